#include "cli/log/message_heads.hpp"

namespace walsizer::cli {

namespace {

// How messages begin, up to the first value. Sorted by nothing: a message begins with one of them at most,
// but for those where the longer one stands first.
constexpr MessageHead kHeads[] = {
    {"checkpoint starting:", EventKind::kStart, false},
    {"restartpoint starting:", EventKind::kStart, true},
    {"checkpoint complete:", EventKind::kComplete, false},
    {"restartpoint complete:", EventKind::kComplete, true},
    {"checkpoint complete", EventKind::kComplete, false},
    {"restartpoint complete", EventKind::kComplete, true},
    {"checkpoints are occurring too frequently", EventKind::kFrequent, false},
    // de
    {"Checkpoint beginnt:", EventKind::kStart, false},
    {"Restart-Punkt beginnt:", EventKind::kStart, true},
    {"Checkpoint komplett:", EventKind::kComplete, false},
    {"Restart-Punkt komplett:", EventKind::kComplete, true},
    {"Checkpoints passieren zu oft", EventKind::kFrequent, false},
    // es
    {"empezando checkpoint:", EventKind::kStart, false},
    {"empezando restartpoint:", EventKind::kStart, true},
    {"checkpoint completado:", EventKind::kComplete, false},
    {"restartpoint completado:", EventKind::kComplete, true},
    {"checkpoint completo:", EventKind::kComplete, false},
    {"restartpoint completo:", EventKind::kComplete, true},
    {"los puntos de control están ocurriendo con demasiada frecuencia", EventKind::kFrequent, false},
    // fr
    {"début du checkpoint :", EventKind::kStart, false},
    {"début du restartpoint :", EventKind::kStart, true},
    {"checkpoint terminé :", EventKind::kComplete, false},
    {"restartpoint terminé :", EventKind::kComplete, true},
    {"les points de vérification (checkpoints) arrivent trop fréquemment", EventKind::kFrequent, false},
    // it
    {"inizio checkpoint:", EventKind::kStart, false},
    {"inizio del punto di riavvio:", EventKind::kStart, true},
    {"checkpoint avviato:", EventKind::kStart, false},
    {"restartpoint avviato:", EventKind::kStart, true},
    {"checkpoint completato:", EventKind::kComplete, false},
    {"punto di riavvio completato:", EventKind::kComplete, true},
    {"restartpoint completato:", EventKind::kComplete, true},
    {"i checkpoint stanno avvenendo troppo ", EventKind::kFrequent, false},
    // ja
    {"チェックポイント開始:", EventKind::kStart, false},
    {"リスタートポイント開始:", EventKind::kStart, true},
    {"チェックポイント完了:", EventKind::kComplete, false},
    {"リスタートポイント完了:", EventKind::kComplete, true},
    {"チェックポイントの発生周期が短すぎます", EventKind::kFrequent, false},
    // ka
    {"საკონტროლო წერტილი იწყება:", EventKind::kStart, false},
    {"გადატვირთვის წერტილი დაიწყო:", EventKind::kStart, true},
    {"საკონტროლო წერტილები მეტისმეტად ხშირად ხდება", EventKind::kFrequent, false},
    // ko
    {"체크포인트 시작:", EventKind::kStart, false},
    {"restartpoint 시작:", EventKind::kStart, true},
    {"체크포인트 작업완료:", EventKind::kComplete, false},
    {"restartpoint 작업완료:", EventKind::kComplete, true},
    {"체크포인트가 너무 자주 발생함", EventKind::kFrequent, false},
    // pl, pt_BR, tr, id
    {"punkty kontrolne występują zbyt często", EventKind::kFrequent, false},
    {"pontos de controle estão ocorrendo frequentemente", EventKind::kFrequent, false},
    {"checkpoint işlemi çok sık gerçekleşiyor", EventKind::kFrequent, false},
    {"'checkpoint' terlalu sering terjadi", EventKind::kFrequent, false},
    // ru
    {"начата контрольная точка:", EventKind::kStart, false},
    {"начата точка перезапуска:", EventKind::kStart, true},
    {"контрольная точка завершена:", EventKind::kComplete, false},
    {"точка перезапуска завершена:", EventKind::kComplete, true},
    {"контрольные точки происходят слишком часто", EventKind::kFrequent, false},
    // sv
    {"checkpoint startar:", EventKind::kStart, false},
    {"restartpoint startar:", EventKind::kStart, true},
    {"checkpoint klar:", EventKind::kComplete, false},
    {"restartpoint klar:", EventKind::kComplete, true},
    {"checkpoint:s sker för ofta", EventKind::kFrequent, false},
    // uk
    {"початок контрольної точки:", EventKind::kStart, false},
    {"початок точки перезапуску:", EventKind::kStart, true},
    {"контрольна точка завершена:", EventKind::kComplete, false},
    {"точка перезапуску завершена:", EventKind::kComplete, true},
    {"контрольні точки відбуваються занадто часто", EventKind::kFrequent, false},
    // zh_CN, zh_TW
    {"检查点开始:", EventKind::kStart, false},
    {"重启点开始:", EventKind::kStart, true},
    {"检查点完成:", EventKind::kComplete, false},
    {"重启点完成:", EventKind::kComplete, true},
    {"检查点事件发生过于频繁", EventKind::kFrequent, false},
    {"檢查點開始:", EventKind::kStart, false},
    {"重啟點開始:", EventKind::kStart, true},
    {"重新啟動點開始:", EventKind::kStart, true},
    {"檢查點完成:", EventKind::kComplete, false},
    {"重啟點完成:", EventKind::kComplete, true},
    {"重新啟動點完成:", EventKind::kComplete, true},
    {"檢查點頻率太高", EventKind::kFrequent, false},
    // recovery and start, in English and where a translation is as plain
    {"database system is ready to accept", EventKind::kReady, false},
    {"redo starts at ", EventKind::kRedoStart, false},
    {"redo in progress,", EventKind::kRedoProgress, false},
    {"redo done at ", EventKind::kRedoDone, false},
    {"Redo beginnt bei ", EventKind::kRedoStart, false},
    {"Redo im Gang,", EventKind::kRedoProgress, false},
    {"Redo fertig bei ", EventKind::kRedoDone, false},
    {"redo comienza en ", EventKind::kRedoStart, false},
    {"redo en progreso,", EventKind::kRedoProgress, false},
    {"redo listo en ", EventKind::kRedoDone, false},
    {"запись REDO начинается со смещения ", EventKind::kRedoStart, false},
    {"записи REDO обработаны до смещения ", EventKind::kRedoDone, false},
    {"REDOを", EventKind::kRedoStart, false},
    {"REDO進行中、", EventKind::kRedoProgress, false},
    {"REDOが", EventKind::kRedoDone, false},
    {"starting PostgreSQL ", EventKind::kVersion, false},
};

bool StartsWith(std::string_view text, std::string_view beginning) {
    return text.substr(0, beginning.size()) == beginning;
}

}  // namespace

const MessageHead* HeadOf(std::string_view message) {
    for (const MessageHead& head : kHeads)
        if (message.size() >= head.text.size() && message[0] == head.text[0] &&
            StartsWith(message, head.text))
            return &head;
    return nullptr;
}

bool IsCutHead(std::string_view message) {
    if (message.size() < 12) return false;
    for (const MessageHead& head : kHeads)
        if ((head.kind == EventKind::kStart || head.kind == EventKind::kComplete ||
             head.kind == EventKind::kFrequent) &&
            StartsWith(head.text, message))
            return true;
    return false;
}

}  // namespace walsizer::cli

// The levels PostgreSQL writes in front of a message, in all its languages.
#include <algorithm>

#include "cli/log/message.hpp"

namespace walsizer::cli {

namespace {

constexpr std::string_view kLogWords[] = {"LOG",     "LOGG", "СООБЩЕНИЕ", "ЗАПИСУВАННЯ", "DZIENNIK",
                                          "ჟურნალი", "로그", "日志",      "日誌"};
constexpr std::string_view kHintWords[] = {
    "HINT",  "TIPP",     "ASTUCE",    "SUGERENCIA", "SUGGERIMENTO", "DICA", "TIPS", "PODPOWIEDŹ",
    "İPUCU", "PETUNJUK", "ПОДСКАЗКА", "УКАЗІВКА",   "ヒント",       "힌트", "提示", "მინიშნება"};
// All others: a message of ours is at most quoted there.
constexpr std::string_view kOtherWords[] = {
    // errors and notices
    "ERROR", "FATAL", "PANIC", "WARNING", "NOTICE", "INFO", "DEBUG", "DEBUG1", "DEBUG2", "DEBUG3", "DEBUG4",
    "DEBUG5", "FEHLER", "WARNUNG", "HINWEIS", "ERREUR", "ATTENTION", "ERRORE", "ATTENZIONE", "FATALE",
    "NOTIFICA", "ERRO", "AVISO", "NOTA", "FEL", "VARNING", "FATALT", "NOTIS", "BŁĄD", "OSTRZEŻENIE",
    "KATASTROFALNY", "UWAGA", "INFORMACJA", "HATA", "UYARI", "PERINGATAN", "ОШИБКА", "ПРЕДУПРЕЖДЕНИЕ",
    "ВАЖНО", "ЗАМЕЧАНИЕ", "ИНФОРМАЦИЯ", "ПОМИЛКА", "ПОПЕРЕДЖЕННЯ", "ФАТАЛЬНО", "ПОВІДОМЛЕННЯ", "ІНФОРМАЦІЯ",
    "შეცდომა", "გაფრთხილება", "ფატალური", "ინფორმაცია", "오류", "경고", "치명적오류", "알림", "정보", "错误",
    "警告", "致命错误", "注意", "信息", "錯誤", "致命錯誤", "資訊",
    // what goes with a message
    "STATEMENT", "DETAIL", "CONTEXT", "QUERY", "LOCATION", "BACKTRACE", "ANWEISUNG", "ZUSAMMENHANG",
    "ANFRAGE", "INSTRUCTION", "DÉTAIL", "CONTEXTE", "REQUÊTE", "ISTRUZIONE", "DETTAGLI", "CONTESTO",
    "SENTENCIA", "DETALLE", "CONTEXTO", "CONSULTA", "COMANDO", "DETALHE", "SATS", "DETALJ", "KONTEXT",
    "FRÅGA", "WYRAŻENIE", "SZCZEGÓŁY", "KONTEKST", "ZAPYTANIE", "KOMUT", "AYRINTI", "ORTAM", "SORGU",
    "PERNYATAAN", "DETIL", "KONTEKS", "ОПЕРАТОР", "ПОДРОБНОСТИ", "КОНТЕКСТ", "ЗАПРОС", "ІНСТРУКЦІЯ",
    "ВІДОМОСТІ", "ЗАПИТ", "ოპერატორი", "დეტალები", "კონტექსტი", "მოთხოვნა", "文", "詳細", "文脈",
    "問い合わせ", "구문", "상세정보", "내용", "쿼리", "语句", "详细信息", "详情", "上下文", "查询", "陳述式",
    "詳情", "查詢"};

template <std::size_t kCount>
bool Among(std::string_view word, const std::string_view (&words)[kCount]) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

}  // namespace

Level LevelOf(std::string_view word) {
    if (Among(word, kLogWords)) return Level::kLog;
    if (Among(word, kHintWords)) return Level::kHint;
    if (Among(word, kOtherWords)) return Level::kOther;
    return Level::kUnknown;
}

}  // namespace walsizer::cli

/* cli/project/findings.c - prints findings of a check as JSON. */
#include "findings.h"

#include "cli/base/emit.h"

static const char *const severities[] = {
    [EX_SEVERITY_ERROR] = "error",
    [EX_SEVERITY_WARNING] = "warning",
    [EX_SEVERITY_NOTE] = "note",
};

void exi_findings_print_json(FILE *file, const ex_check *check) {
    exi_emitter json = exi_emit_start(file);
    exi_emit_open(&json, NULL, '{');
    exi_emit_number(&json, "errors", check->error_count);
    exi_emit_number(&json, "warnings", check->warning_count);
    exi_emit_open(&json, "findings", '[');
    for (int i = 0; i < check->finding_count; i++) {
        const ex_finding *finding = &check->findings[i];
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "severity", severities[finding->severity]);
        exi_emit_text(&json, "kind", finding->kind);
        exi_emit_text(&json, "where", finding->where);
        exi_emit_text(&json, "text", finding->text);
        exi_emit_number(&json, "value", finding->value);
        if (finding->remedy)
            exi_emit_text(&json, "remedy", finding->remedy);
        if (finding->pose)
            exi_emit_text(&json, "pose", finding->pose);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

void exi_findings_print_unreadable(FILE *file, const char *where, const char *text) {
    ex_finding finding = {.severity = EX_SEVERITY_ERROR, .kind = "unreadable", .where = where, .text = text};
    exi_findings_print_json(file, &(ex_check){.findings = &finding, .finding_count = 1, .error_count = 1});
}

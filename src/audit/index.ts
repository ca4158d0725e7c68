/** What an attacker could use in an installation, by documented check ids. Works without a gateway. Loaded on demand. */
export { audit, type AuditReport } from "./audit.ts";
export { CHECK_IDS } from "./catalogue.ts";
export { SEVERITIES, type AuditDeps, type AuditFinding, type RiskyEntry, type Severity } from "./finding.ts";
export { applyFix, applyFixes, plannedFixes, type FixReport, type PlannedFix } from "./fix.ts";
export { riskyEntries } from "./risky-entries.ts";

export { createSubsystemLogger, getChildLogger, logDebug, logError, logInfo, type SubsystemLogger } from "../environment.ts";
export { registerLogTransport, type LogTransport, type LogTransportRecord } from "../diagnostics.ts";
export { redactSensitiveText } from "../text.ts";

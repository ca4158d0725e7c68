import { createCheck, type JsonSchema, type SchemaCheck } from "../../src/protocol/check.ts";
import { PROTOCOL_ERROR_CODES, type MethodName } from "../../src/protocol/index.ts";
import { DECLARED_METHODS } from "../../src/protocol/methods/index.ts";
import type { FuzzFrame } from "./frames.ts";
import type { Response } from "./traffic.ts";

/** Words of a failure inside, not of a refusal. */
const LEAK =
  /Cannot read|Cannot set|Cannot convert|is not (?:a function|iterable|defined|an object)|\[object |Maximum call stack|Invalid (?:array|string) length|SQLITE|constraint failed|ENAMETOOLONG|could not be serialized as JSON|internal error/i;

export const shown = ({ number, kind, payload }: FuzzFrame): string =>
  `frame ${number} (${kind}): ${payload.length > 600 ? `${payload.slice(0, 600)}… (${payload.length} characters)` : payload}`;

/** Compares answers with what the protocol promises. */
export function createJudge(report: (text: string) => void): (frame: FuzzFrame, answer: Response) => void {
  const checks = new Map<MethodName, SchemaCheck>();
  const reported = new Set<string>();
  const codes: readonly unknown[] = PROTOCOL_ERROR_CODES;
  const once = (key: string, text: string): void => {
    if (reported.has(key)) return;
    reported.add(key);
    report(text);
  };
  return (frame: FuzzFrame, { ok, payload, error }: Response): void => {
    if (!ok) {
      const message = String(error?.message);
      if (!codes.includes(error?.code) || message === "")
        once(`code ${String(error?.code)}`, `an error without a documented code: ${JSON.stringify(error)} to ${shown(frame)}`);
      if (LEAK.test(message)) once(`leak ${frame.method} ${message.slice(0, 30)}`, `a failure inside: ${message} to ${shown(frame)}`);
    } else if (frame.method !== undefined) {
      let check = checks.get(frame.method);
      if (!check) checks.set(frame.method, (check = createCheck(DECLARED_METHODS[frame.method].result as unknown as JsonSchema)));
      const issues = check(payload);
      if (issues)
        once(
          `result ${frame.method}`,
          `a result that does not fit its declaration: ${issues.join("; ")} in ${JSON.stringify(payload).slice(0, 300)} to ${shown(frame)}`,
        );
    }
  };
}

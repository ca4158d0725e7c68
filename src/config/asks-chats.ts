import { isRecord } from "../base/records.ts";
import type { OpenClawConfig } from "./schema/index.ts";

const fieldsIn = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});

/** Whether questions to the operator are sent to chats: `approvals.exec`, or `execApprovals` of a channel or an account. */
export function asksChats({ approvals, channels = {} }: Pick<OpenClawConfig, "approvals" | "channels">): boolean {
  const isOn = (section: unknown): boolean =>
    isRecord(section) &&
    section["enabled"] !== false &&
    (fieldsIn(section["execApprovals"])["enabled"] === true || Object.values(fieldsIn(section["accounts"])).some(isOn));
  return approvals?.exec?.enabled === true || Object.values(channels).some(isOn);
}

/** The session index, for channels. */
import { requireHost } from "../host-binding.ts";
import type { RecordInboundSessionParams } from "../types/runtime-channel.ts";

/** Notes who wrote in which session. A failure goes to `onRecordError`; the message goes on. */
export async function recordInboundSession(params: RecordInboundSessionParams): Promise<void> {
  const record = requireHost("recordInboundSession", "recordInboundSession");
  try {
    await record(params);
  } catch (error) {
    params.onRecordError(error);
  }
}

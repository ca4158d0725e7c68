import { say } from "../reply.ts";
import type { Intent } from "../turn.ts";

/** Limits, so that a typo does not stream for hours. */
const MAX_CHUNKS = 100_000;
const MAX_GAP_MS = 60_000;

const SETTING = /(?:^|\s)@(?:chunks|gap)=\d{1,9}\b/g;

/**
 * `hello @chunks=400 @gap=5`: streams the message itself and numbered words, in a known number of chunks at a known pace, so that streaming can be
 * measured without a provider.
 */
const measure: Intent = {
  name: "measure",
  begin({ raw }) {
    const chunks = /(?:^|\s)@chunks=(\d{1,9})\b/.exec(raw.slice(-4000))?.[1];
    if (chunks === undefined) return undefined;
    const gap = /(?:^|\s)@gap=(\d{1,9})\b/.exec(raw.slice(-4000))?.[1];
    const count = Math.min(MAX_CHUNKS, Math.max(1, Number(chunks)));
    const first = raw.replaceAll(SETTING, "").trim() || "ok";
    return {
      measured: { pieces: Array.from({ length: count }, (_, index) => (index === 0 ? first : ` w${index}`)), gapMs: Math.min(MAX_GAP_MS, Number(gap ?? 0)) },
    };
  },
};

const ANSWER_WITH = (word: string): RegExp => new RegExp(String.raw`\b(?:reply|replies|answer|respond|response|end|say)\b[^\n]{0,120}\b${word}\b`, "i");

/** Answers the gateway's own prompts: reminders are passed on, everything else needs no reply. */
const answerGateway: Intent = {
  name: "gateway",
  begin({ raw, text, events }) {
    const due = events.filter((event) => event !== "");
    // What stands around a job's message is the same for every job, and asks for nothing.
    const asked = (raw.startsWith("[cron:") ? text : raw).slice(0, 8000);
    const fired = /^(?:a |the )?(?:scheduled )?reminders? (?:has |have |was |were |is |are )?(?:fired|triggered|due)\b[^:\n]{0,80}:\s*([\s\S]{1,2000})/i.exec(
      text,
    )?.[1];
    if (fired !== undefined) return say(fired.replace(/\n\s*\n[\s\S]*$/, "").trim());
    if (ANSWER_WITH("HEARTBEAT_OK").test(asked)) return say(due.length > 0 ? due.join("\n") : "HEARTBEAT_OK");
    if (ANSWER_WITH("NO_REPLY").test(asked)) return say("NO_REPLY");
    if (text === "" && due.length > 0) return say(due.join("\n"));
    return undefined;
  },
};

export const prompts: readonly Intent[] = [measure, answerGateway];

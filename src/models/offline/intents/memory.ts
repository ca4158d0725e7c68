import { createHash } from "node:crypto";
import { clip } from "../../../base/text.ts";
import { fenced, jsonOf } from "../report.ts";
import { say, type Reply } from "../reply.ts";
import { call, offered, recordOf } from "../tool-call.ts";
import type { Intent, Step } from "../turn.ts";
import { CONTENT, PATH } from "./files.ts";

/** A file of its own for each note: nothing is overwritten, and the same note is stored once. */
function noteFile(fact: string): string {
  const words = fact.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const slug = clip(words.slice(0, 6).join("-"), 40).replace("…", "");
  return `memory/${slug === "" ? "note" : slug}-${createHash("sha256").update(fact).digest("hex").slice(0, 8)}.md`;
}

const remember: Intent = {
  name: "remember",
  begin(turn) {
    const fact = /^(?:remember|note|note down|keep in mind|memori[sz]e|don't forget|do not forget)(?: that| this)?[:,\s]+([\s\S]+)$/i
      .exec(turn.plain)?.[1]
      ?.trim();
    // "Remember to …" asks for a reminder, "remember …?" is a question.
    if (fact === undefined || /^to\b/i.test(fact) || fact.endsWith("?")) return undefined;
    const day = new Date(turn.now).toISOString().slice(0, 10);
    return call(turn, "write", [
      { names: PATH, value: noteFile(fact) },
      { names: CONTENT, value: `- ${fact} (noted ${day})\n` },
    ]);
  },
  goOn({ steps }) {
    const last = steps.at(-1);
    if (!last || last.isError) return undefined;
    const path = PATH.map((name) => last.arguments[name]).find((value) => typeof value === "string");
    return say(`Noted${path === undefined ? "" : ` in \`${path}\``}.`);
  },
};

interface Found {
  readonly path: string;
  readonly from: number;
  readonly lines: number;
  readonly snippet: string;
}

function foundIn(step: Step): readonly Found[] | undefined {
  const results = jsonOf(step)?.["results"];
  if (!Array.isArray(results)) return undefined;
  return results.flatMap((result: unknown) => {
    const { path, startLine, endLine, snippet } = recordOf(result) ?? {};
    if (typeof path !== "string") return [];
    const from = typeof startLine === "number" ? startLine : 1;
    const lines = typeof endLine === "number" && endLine >= from ? endLine - from + 1 : 20;
    return [{ path, from, lines, snippet: typeof snippet === "string" ? snippet : "" }];
  });
}

const MAX_FOUND = 3;

function tellFound(found: readonly Found[], whole: string | undefined): Reply {
  const lines = found
    .slice(0, MAX_FOUND)
    .map(({ path, from, snippet }, index) => `\`${path}\`, line ${from}:\n${fenced(index === 0 ? (whole ?? snippet) : snippet)}`);
  return say(`This is what I have noted:\n\n${lines.join("\n\n")}`);
}

const recall: Intent = {
  name: "recall",
  begin(turn) {
    const about =
      /^(?:what do you (?:remember|know)|what have i told you|what did i (?:tell|say to) you|do you remember|recall|search (?:your )?memory(?: for)?|what(?:'s| is) in your memory)(?: anything)?(?: about| of| on)?[:,\s]+([\s\S]+?)[?!.]*$/i
        .exec(turn.plain)?.[1]
        ?.trim();
    if (about === undefined || about === "") return undefined;
    return call(turn, "memory_search", [{ names: ["query", "q", "text"], value: about }]);
  },
  goOn(turn) {
    const searched = turn.steps.find(({ name }) => name === "memory_search");
    if (!searched || searched.isError) return undefined;
    const found = foundIn(searched);
    if (!found) return undefined;
    const problem = jsonOf(searched)?.["error"];
    const [best] = found;
    if (!best) return say(typeof problem === "string" ? `My memory cannot be searched: ${problem}` : "I have nothing noted about that.");
    const got = turn.steps.find(({ name }) => name === "memory_get");
    if (got) {
      const text = got.isError ? undefined : (jsonOf(got)?.["text"] ?? got.text);
      return tellFound(found, typeof text === "string" && text.trim() !== "" ? text : undefined);
    }
    if (!offered(turn, "memory_get")) return tellFound(found, undefined);
    const { path, from, lines } = best;
    const next = call(turn, "memory_get", [
      { names: PATH, value: path },
      { names: ["from"], value: from, optional: true },
      { names: ["lines"], value: lines, optional: true },
    ]);
    return next.calls ? next : tellFound(found, undefined);
  },
};

export const memory: readonly Intent[] = [recall, remember];

import { AppError } from "../../base/errors.ts";
import { isPrintable } from "../../base/printable.ts";
import { isRecord } from "../../base/records.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";

type Prompt = MethodResult<"prompts.list">["prompts"][number];

/** All of them stand in one small fact about the installation. */
const KEY = "gateway.prompts";
const MOST = 200;
const MOST_CHARS = 500_000;
const ID = /^[\w-]{1,64}$/;

const invalid = (message: string): AppError => new AppError("INVALID_INPUT", message);

function isPrompt(value: unknown): value is Prompt {
  if (!isRecord(value)) return false;
  const { id, name, text, updatedAtMs } = value;
  return [id, name, text].every((part) => typeof part === "string" && part !== "") && typeof updatedAtMs === "number";
}

const byName = (prompts: readonly Prompt[]): readonly Prompt[] => prompts.toSorted((a, b) => a.name.localeCompare(b.name) || (a.id < b.id ? -1 : 1));

/** The prompts with one saved among them. */
function withPrompt(prompts: readonly Prompt[], params: MethodParams<"prompts.put">, at: { readonly id: string; readonly now: number }): Prompt {
  const { id = at.id } = params;
  const name = params.name.trim();
  const text = params.text.trim();
  if (!ID.test(id)) throw invalid(`invalid id "${id.slice(0, 80)}": use an id from prompts.list`);
  if (name === "" || !isPrintable(name)) throw invalid("invalid name: use 1 to 80 printable characters on one line");
  if (text === "") throw invalid("invalid text: a prompt needs at least one visible character");
  const others = prompts.filter((prompt) => prompt.id !== id);
  if (others.some((prompt) => prompt.name.toLowerCase() === name.toLowerCase())) throw invalid(`a prompt with the name "${name}" exists; choose another name`);
  if (others.length >= MOST) throw invalid(`the limit of ${MOST} prompts is reached; remove one first`);
  const chars = others.reduce((sum, prompt) => sum + prompt.text.length, text.length);
  if (chars > MOST_CHARS) throw invalid(`all prompts together may have ${MOST_CHARS} characters, not ${chars}; shorten or remove some`);
  return { id, name, text, updatedAtMs: at.now };
}

/** Prompts that people keep. One change comes after the other, so that none is lost. */
export function promptsHandlers({ store, clock, ids }: Pick<MethodDeps, "store" | "clock" | "ids">): HandlersOf<"prompts"> {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work, work);
    last = result.catch(() => undefined);
    return result;
  };
  const load = async (): Promise<readonly Prompt[]> => {
    const stored = await store.read("meta.get", { key: KEY });
    return Array.isArray(stored) ? byName(stored.filter(isPrompt)) : [];
  };
  const save = (prompts: readonly Prompt[]): Promise<void> => store.write("meta.set", { key: KEY, value: prompts.length === 0 ? null : prompts });
  return {
    "prompts.list": async () => ({ prompts: await load() }),
    "prompts.put": (params) =>
      inTurn(async () => {
        const prompts = await load();
        const prompt = withPrompt(prompts, params, { id: ids.uuid(), now: clock.now() });
        await save(byName([...prompts.filter(({ id }) => id !== prompt.id), prompt]));
        return { ok: true, prompt };
      }),
    "prompts.remove": ({ id }) =>
      inTurn(async () => {
        const prompts = await load();
        const prompt = prompts.find((one) => one.id === id);
        if (!prompt) throw invalid(`there is no prompt with the id "${id.slice(0, 80)}"; list them with prompts.list`);
        await save(prompts.filter((one) => one !== prompt));
        return { ok: true, prompt };
      }),
  };
}

import type { Clock } from "../base/clock.ts";
import type { Config } from "../config/index.ts";
import { type Models, answeringModel, type AnsweringModel } from "../models/index.ts";
import type { ModelState } from "./troubles.ts";

/** Which model answers, and what keeps it from that. */
export type ModelView = () => Promise<AnsweringModel & ModelState>;

export interface ModelViewDeps {
  readonly models: () => Promise<Pick<Models, "select" | "auth" | "needsNoKey">>;
  readonly agentId: () => string;
  readonly config: Pick<Config, "onEvent">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Looked at again after this long, or when the configuration changes: keys may be added and rest, local models come and go. */
const GOOD_FOR_MS = 10_000;

async function look({ models, agentId }: ModelViewDeps): Promise<AnsweringModel & ModelState> {
  const answering = await answeringModel(models, agentId());
  const { model, offline } = answering;
  if (model === null || offline) return { ...answering, keyMissing: false };
  const [provider = "", ...rest] = model.split("/");
  const found = await models();
  const candidates = await found.auth(agentId()).candidates(provider, { modelId: rest.join("/") });
  // The first to try rests: so do all behind it.
  return { ...answering, keyMissing: candidates.length === 0 && !found.needsNoKey(provider), rest: candidates[0]?.cooldown };
}

/** Asked every few seconds by a page, so an answer is good for a while; an old one is given while the next is looked for. */
export function createModelView(deps: ModelViewDeps): ModelView {
  let known: { readonly at: number; readonly view: Promise<AnsweringModel & ModelState> } | undefined;
  deps.config.onEvent(() => void (known = undefined));
  const refresh = (): Promise<AnsweringModel & ModelState> => {
    const view = look(deps);
    const asked = { at: deps.clock.monotonic(), view };
    known = asked;
    // What failed is not shown again: the next one who asks starts another look.
    view.catch(() => void (known === asked && (known = undefined)));
    return view;
  };
  return () => {
    if (!known) return refresh();
    const { view: last, at } = known;
    if (deps.clock.monotonic() - at > GOOD_FOR_MS) void refresh();
    return last;
  };
}

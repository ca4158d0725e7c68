/**
 * The composition root: builds every module from its dependencies and owns the one stack that takes them down again.
 * The entry point.
 */
import type * as lazyAgent from "./lazy-agent.ts";
import type * as conversations from "./open-conversation.ts";

export { createApp, type App, type AppOptions } from "./create-app.ts";
export { createProcessLifetime, type Lifetime } from "./lifetime.ts";
export type { ConversationDeps, OpenConversation } from "./open-conversation.ts";

/** The agent and the conversations by themselves. Loaded by tests of plugins. */
export async function loadAnswering(): Promise<Pick<typeof lazyAgent, "createLazyAgent"> & Pick<typeof conversations, "openConversation">> {
  const [{ createLazyAgent }, { openConversation }] = await Promise.all([import("./lazy-agent.ts"), import("./open-conversation.ts")]);
  return { createLazyAgent, openConversation };
}

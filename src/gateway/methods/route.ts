import { AppError } from "../../base/errors.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { createRouting, type Explanation, type Route, type RouteLocation, type TierStep, type BindingOutcome } from "../../routing/index.ts";
import type { MethodDeps } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";

function locationOf({ channel, accountId, peerKind, peerId, parentPeerId, threadId, guildId, teamId, roles }: MethodParams<"route.explain">): RouteLocation {
  if (peerId === undefined && (parentPeerId !== undefined || threadId !== undefined)) {
    throw new AppError("INVALID_INPUT", "a thread belongs to a chat: set peerId to the chat");
  }
  const kind = peerKind ?? "direct";
  return {
    channel,
    accountId,
    peer: peerId === undefined ? undefined : { kind, id: peerId },
    parentPeer: parentPeerId === undefined ? undefined : { kind, id: parentPeerId },
    threadId,
    guildId,
    teamId,
    roles,
  };
}

function stepText({ state, note }: TierStep): string {
  if (state === "none") return note ?? "no binding matches";
  return note ?? state;
}

function bindingText(verdict: BindingOutcome): string {
  if (verdict.state === "chosen") return "chosen";
  if (verdict.state === "beaten") return `matches too, but ${verdict.by} ${verdict.why}`;
  return `${verdict.field} is ${verdict.expected}, here it is ${verdict.found}`;
}

function sent(route: Route & Explanation): MethodResult<"route.explain"> {
  const { agentId, sessionKey, matchedBy, binding, broadcast } = route;
  return {
    agentId,
    sessionKey,
    matchedBy,
    because: route.session,
    ...(binding === undefined ? {} : { binding: binding.path }),
    ...(broadcast === undefined ? {} : { broadcast: broadcast.agents.map((agent) => ({ agentId: agent.agentId, sessionKey: agent.sessionKey })) }),
    steps: route.explanation.map((step) => ({ tier: step.tier, text: stepText(step), matched: step.state === "matched" })),
    bindings: route.bindings.map((verdict) => ({
      path: verdict.path,
      agentId: verdict.agentId,
      tier: verdict.tier,
      text: bindingText(verdict),
      matched: verdict.state === "chosen",
    })),
  };
}

/** Who would answer a message, and why. */
export function routeHandlers({ config }: Pick<MethodDeps, "config">): HandlersOf<"route"> {
  const routing = createRouting();
  return { "route.explain": (params) => sent(routing.explainRoute({ config: config.current, ...locationOf(params) })) };
}

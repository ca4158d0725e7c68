import type { ServerResponse } from "node:http";
import type { OpenClawConfig } from "../../../config/index.ts";
import type { Route } from "../route.ts";
import { listModels, modelNamed } from "./models.ts";
import type { ApiDeps } from "./run.ts";
import { sendError, sendJson } from "../reply.ts";

/** Large enough for images, in both. */
const CHAT_BODY_BYTES = 20_971_520;
const RESPONSES_BODY_BYTES = 20_971_520;

const MODELS = "/v1/models";

function answerModels(config: OpenClawConfig, response: ServerResponse, id: string | undefined): void {
  if (id === undefined) return sendJson(response, 200, listModels(config));
  const found = modelNamed(config, id);
  if (found) sendJson(response, 200, found);
  else sendError(response, { status: 404, message: `The model ${JSON.stringify(id)} does not exist`, type: "invalid_request_error", code: "model_not_found" });
}

/** The part of the OpenAI API that programs can use to talk to agents. The endpoints are loaded with their first request. */
export function openAiRoutes(deps: ApiDeps): readonly Route[] {
  const endpoints = () => deps.config.current.gateway?.http?.endpoints;
  const post = { methods: ["POST"], match: "exact", auth: "bearer" } as const;
  return [
    {
      methods: ["GET"],
      path: MODELS,
      match: "prefix",
      auth: "bearer",
      maxBodyBytes: 0,
      handle: ({ response, path }) => answerModels(deps.config.current, response, path === MODELS ? undefined : path.slice(MODELS.length + 1)),
    },
    {
      ...post,
      path: "/v1/chat/completions",
      maxBodyBytes: CHAT_BODY_BYTES,
      off: () => (endpoints()?.chatCompletions?.enabled === true ? undefined : "gateway.http.endpoints.chatCompletions.enabled is off"),
      handle: async (exchange) => (await import("./chat-completions.ts")).answerChatCompletion(deps, exchange),
    },
    {
      ...post,
      path: "/v1/responses",
      maxBodyBytes: () => endpoints()?.responses?.maxBodyBytes ?? RESPONSES_BODY_BYTES,
      off: () => (endpoints()?.responses?.enabled === true ? undefined : "gateway.http.endpoints.responses.enabled is off"),
      handle: async (exchange) => (await import("./responses.ts")).answerResponse(deps, exchange),
    },
  ];
}

import type { ServerResponse } from "node:http";
import type { OpenClawConfig } from "../../config/index.ts";
import type { Canvas } from "../../nodes/index.ts";
import { isReady, type HealthReport } from "../health.ts";
import { listModels, modelNamed } from "./openai/models.ts";
import type { ApiDeps } from "./openai/run.ts";
import { sendError, sendJson } from "./reply.ts";
import type { Route } from "./route.ts";

/** Whether the gateway is well: for probes, and in full for this user's CLI. */
export function statusRoutes(health: () => HealthReport): readonly Route[] {
  const probe = { methods: ["GET"], match: "exact", maxBodyBytes: 0 } as const;
  return [
    {
      ...probe,
      path: "/health",
      auth: "run-secret-detail",
      handle({ response, trusted }) {
        const report = health();
        sendJson(response, report.ok ? 200 : 503, trusted ? report : { ok: report.ok, status: report.status });
      },
    },
    { ...probe, path: "/healthz", auth: "public", handle: ({ response }) => sendJson(response, 200, { ok: true, status: "live" }) },
    {
      ...probe,
      path: "/readyz",
      auth: "public",
      handle({ response }) {
        const report = health();
        if (isReady(report)) sendJson(response, 200, { ok: true, status: "ready" });
        else sendJson(response, 503, { ok: false, status: report.status });
      },
    },
  ];
}

/** A reader that takes longer holds a file open for nothing. */
const CANVAS_TIMEOUT_MS = 120_000;

/** Pages of agents. The code behind it is loaded with the first request. */
export const canvasRoutes = (canvas: Pick<Canvas, "off" | "handle"> | undefined): readonly Route[] => [
  {
    methods: ["GET"],
    path: "/__openclaw__",
    match: "prefix",
    auth: "canvas",
    authFirst: true,
    maxBodyBytes: 0,
    timeoutMs: CANVAS_TIMEOUT_MS,
    async handle({ request, response, path, query }) {
      const off = canvas ? canvas.off() : "there is no canvas";
      if (!canvas || off !== undefined) return sendError(response, { status: 404, message: `not found: ${path}: ${off}`, type: "not_found" });
      await canvas.handle({ request, response, path, query });
    },
  },
];

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
      handle: async (exchange) => (await import("./openai/chat-completions.ts")).answerChatCompletion(deps, exchange),
    },
    {
      ...post,
      path: "/v1/responses",
      maxBodyBytes: () => endpoints()?.responses?.maxBodyBytes ?? RESPONSES_BODY_BYTES,
      off: () => (endpoints()?.responses?.enabled === true ? undefined : "gateway.http.endpoints.responses.enabled is off"),
      handle: async (exchange) => (await import("./openai/responses.ts")).answerResponse(deps, exchange),
    },
  ];
}

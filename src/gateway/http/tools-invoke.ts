import { AppError } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { isRecord } from "../../base/records.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { toolFacts, toolName } from "../../tools/index.ts";
import { keySettings, mainSessionKey, resolveKey } from "../methods/sessions/keys.ts";
import type { ToolsPort } from "../ports.ts";
import { parseJsonObject } from "./body.ts";
import { apiErrorOfThrown, INTERNAL } from "./failures.ts";
import { retryAfter, sendError, sendJson } from "./reply.ts";
import type { Exchange } from "./route.ts";

const TOOL_NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

/** The one spelling of a tool's name, for the check and the call alike. */
export function canonicalTool(name: string): string | undefined {
  const plain = toolName(name);
  return TOOL_NAME.test(plain) ? (plain === "shell" ? "exec" : plain) : undefined;
}

/** Whether a tool may be called over HTTP at all. `gateway.tools.deny` wins over `gateway.tools.allow`. */
export function isToolAllowed(tool: string, config: OpenClawConfig): boolean {
  const named = (list: readonly string[] | undefined): boolean => (list ?? []).some((entry) => canonicalTool(entry) === tool);
  const rule = toolFacts(tool)?.overHttp;
  if (rule === "never" || named(config.gateway?.tools?.deny)) return false;
  return rule !== "if-named" || named(config.gateway?.tools?.allow);
}

interface Invocation {
  readonly tool: string;
  readonly action?: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly sessionKey?: string;
}

function parseInvocation(value: Readonly<Record<string, unknown>>): Invocation | string {
  const { tool, action, args, sessionKey } = value;
  if (typeof tool !== "string" || tool.trim() === "") return "tools.invoke requires body.tool";
  if (action !== undefined && typeof action !== "string") return "body.action must be a string";
  if (args !== undefined && !isRecord(args)) return "body.args must be an object";
  if (sessionKey !== undefined && typeof sessionKey !== "string") return "body.sessionKey must be a string";
  return {
    tool,
    args: args ?? {},
    ...(action === undefined ? {} : { action }),
    ...(sessionKey === undefined ? {} : { sessionKey }),
  };
}

export interface ToolRouteDeps {
  readonly config: { readonly current: OpenClawConfig };
  readonly tools?: ToolsPort | undefined;
  readonly log: Logger;
}

type Failure = "not_found" | "tool_error" | "unavailable";

function fail({ response }: Exchange, status: number, type: Failure, message: string, code?: string): void {
  sendJson(response, status, { ok: false, error: { type, ...(code === undefined ? {} : { code }), message } });
}

const headerOf = ({ request }: Exchange, name: string): string | undefined => {
  const value = request.headers[name];
  return (Array.isArray(value) ? value[0] : value)?.trim().slice(0, 200) || undefined;
};

/** What a tool says when it refuses. */
function textOf(content: readonly unknown[]): string {
  const texts = content.flatMap((part) => {
    const text = isRecord(part) ? part["text"] : undefined;
    return typeof text === "string" ? [text] : [];
  });
  return texts.join("\n") || "the tool refused the call";
}

/** Calls a tool and answers. `tool` is canonical and may be called over HTTP. */
async function run(tools: ToolsPort, tool: string, call: Invocation, exchange: Exchange, { config, log }: ToolRouteDeps): Promise<void> {
  const written = call.sessionKey?.trim();
  const found = written ? resolveKey(written, config.current) : undefined;
  if (found && !found.ok) return fail(exchange, 400, "tool_error", found.message);
  const sessionKey = found?.key ?? mainSessionKey(keySettings(config.current));
  const channel = headerOf(exchange, "x-openclaw-message-channel");
  const accountId = headerOf(exchange, "x-openclaw-account-id");
  try {
    const result = await tools.invoke({
      tool,
      args: call.args,
      ...(call.action === undefined ? {} : { action: call.action }),
      sessionKey,
      ...(channel === undefined ? {} : { channel }),
      ...(accountId === undefined ? {} : { accountId }),
      // The holder of the gateway's secret is its owner.
      owner: true,
      signal: exchange.signal,
    });
    if (exchange.signal.aborted) return;
    if (!result) return fail(exchange, 404, "not_found", `Tool not available: ${call.tool.slice(0, 80)}`);
    const { content, details, isError } = result;
    if (isError) return fail(exchange, 400, "tool_error", textOf(content));
    sendJson(exchange.response, 200, { ok: true, result: { content, ...(details === undefined ? {} : { details }) } });
  } catch (error) {
    if (exchange.signal.aborted) return;
    if (error instanceof AppError && error.code === "INVALID_INPUT") return fail(exchange, 400, "tool_error", error.message);
    if (error instanceof AppError && error.code === "UNAVAILABLE") return fail(exchange, 503, "unavailable", error.message, error.code);
    log.warn("a tool called over HTTP failed", { tool, error });
    const known = apiErrorOfThrown(error);
    if (known === INTERNAL) return fail(exchange, 500, "tool_error", "tool execution failed");
    const type = known.status === 503 || known.status === 429 ? "unavailable" : "tool_error";
    sendJson(exchange.response, known.status, { ok: false, error: { type, code: known.code, message: known.message } }, retryAfter(known));
  }
}

/** Answers `POST /tools/invoke`. */
export async function invokeTool(deps: ToolRouteDeps, exchange: Exchange): Promise<void> {
  const { response, body } = exchange;
  const parsed = parseJsonObject(body);
  if (!parsed.ok) return sendError(response, { status: 400, message: parsed.message, type: "invalid_request_error" });
  const call = parseInvocation(parsed.value);
  if (typeof call === "string") return sendError(response, { status: 400, message: call, type: "invalid_request_error" });
  const tool = canonicalTool(call.tool);
  if (tool === undefined || !isToolAllowed(tool, deps.config.current)) return fail(exchange, 404, "not_found", `Tool not available: ${call.tool.slice(0, 80)}`);
  if (deps.tools) return run(deps.tools, tool, call, exchange, deps);
  fail(exchange, 503, "unavailable", `UNAVAILABLE: ${tool} was not run; this gateway has no tools`, "UNAVAILABLE");
}

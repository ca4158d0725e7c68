import type { IncomingMessage, ServerResponse } from "node:http";
import type { HealthReport } from "./health.ts";

/** Answers before the gateway is wired: health reports that it is starting, everything else gets a retry response. */
export function answerEarly(health: () => HealthReport): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const { ok, status } = health();
    const asked = (request.url ?? "").split("?")[0];
    response.writeHead(503, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store", "retry-after": "1" });
    response.end(JSON.stringify(asked === "/health" || asked === "/readyz" ? { ok, status } : { error: "the gateway is starting; try again in a moment" }));
  };
}

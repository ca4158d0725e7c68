import type { HealthReport } from "../health.ts";
import { sendError, sendJson } from "./reply.ts";
import type { Route } from "./route.ts";

/** True when messages are taken and kept. */
export const isReady = ({ ok, status }: HealthReport): boolean => ok && (status === "ok" || status === "degraded");

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

/** Kept free for the canvas, so that nothing else settles there. */
export const canvasRoutes: readonly Route[] = [
  {
    methods: ["GET"],
    path: "/__openclaw__",
    match: "prefix",
    auth: "bearer",
    maxBodyBytes: 0,
    handle({ response }) {
      sendError(response, { status: 503, message: "UNAVAILABLE: the canvas is not part of this version", type: "unavailable", code: "UNAVAILABLE" });
    },
  },
];

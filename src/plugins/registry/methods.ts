import { SCOPES } from "../../protocol/index.ts";
import { checksFor } from "./arguments.ts";
import type { Binding } from "./binding.ts";
import type { MethodRegistration } from "./kinds.ts";
import type { Table } from "./table.ts";

const MEMBER = "api.registerGatewayMethod";
const NAME = /^[A-Za-z][\w.:-]{0,127}$/;

/** Registers a method of the gateway. Without a scope it needs `operator.admin`. */
export function registerGatewayMethod({ ledger, scope }: Binding, table: Table<MethodRegistration>, given: unknown, fn: unknown, options: unknown): void {
  const checks = checksFor(MEMBER);
  const method = checks.text("method", given, 128);
  if (!NAME.test(method)) checks.fail("method", "a letter, then letters, digits, _ . : and -", given);
  const handler = scope.bind(checks.fn("handler", fn), `gateway method ${method}`);
  const asked = checks.options("options", options)["scope"];
  const access = asked === undefined ? "operator.admin" : checks.choice("options.scope", asked, SCOPES);
  ledger.enter({ kind: "gateway method", name: method, apply: () => table.add(method, ledger.owner, { method, access, handler }) });
}

import type { FakeTelegram } from "./server.ts";

export interface Answer<T = Record<string, unknown>> {
  readonly ok: boolean;
  readonly result: T;
  readonly error_code?: number;
  readonly description?: string;
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

/** Calls a method as the documentation says, without any client. */
export async function call<T = Record<string, unknown>>(
  telegram: FakeTelegram,
  method: string,
  params: object = {},
  init: RequestInit = {},
): Promise<Answer<T>> {
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(params) };
  const response = await fetch(`${telegram.apiRoot}/bot${telegram.token}/${method}`, { ...json, ...init });
  const body = (await response.json()) as Answer<T>;
  if (body.ok !== (response.status === 200) || (!body.ok && body.error_code !== response.status))
    throw new Error(`${response.status} does not fit ${JSON.stringify(body)}`);
  return body;
}

/** `{ offset }` and the like; gives the updates. */
export async function poll(telegram: FakeTelegram, params: object = {}): Promise<readonly (Record<string, unknown> & { readonly update_id: number })[]> {
  const { ok, result, description } = await call<readonly (Record<string, unknown> & { readonly update_id: number })[]>(telegram, "getUpdates", params);
  if (!ok) throw new Error(description);
  return result;
}

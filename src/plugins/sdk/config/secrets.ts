/** Secrets in the configuration: a text, or a reference to where one is kept. */
import { z } from "zod";
import { AppError } from "../../../base/errors.ts";
import { isRecord } from "../values/coerce.ts";

export interface SecretRef {
  source: "env" | "file" | "exec";
  provider: string;
  id: string;
}

export type SecretInput = string | SecretRef;

export function isSecretRef(value: unknown): value is SecretRef {
  return (
    isRecord(value) && ["env", "file", "exec"].includes(String(value["source"])) && typeof value["id"] === "string" && typeof value["provider"] === "string"
  );
}

/** Whether something is given: a text that is not empty, or a reference. */
export function hasConfiguredSecretInput(value: unknown): boolean {
  return normalizeSecretInputString(value) !== undefined || isSecretRef(value);
}

/** The text, if it is one and not empty. */
export function normalizeSecretInputString(value: unknown): string | undefined {
  return typeof value === "string" ? value.trim() || undefined : undefined;
}

/** The text of a secret that the host has resolved. A reference that is still one throws: it would be sent as it stands. */
export function normalizeResolvedSecretInputString(params: { value: unknown; path: string }): string | undefined {
  if (isSecretRef(params.value)) {
    throw new AppError(
      "SECRET_UNRESOLVED",
      `${params.path} is a reference to the secret ${params.value.source}:${params.value.id}, which has not been resolved; check that it exists`,
    );
  }
  return normalizeSecretInputString(params.value);
}

/** A text or a reference. */
export function buildSecretInputSchema() {
  return z.union([z.string(), z.strictObject({ source: z.enum(["env", "file", "exec"]), provider: z.string().min(1), id: z.string().min(1) })]);
}

export const buildOptionalSecretInputSchema = () => buildSecretInputSchema().optional();
export const buildSecretInputArraySchema = () => z.array(buildSecretInputSchema());

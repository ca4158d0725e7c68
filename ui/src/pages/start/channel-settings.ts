import type { SetupStatus } from "./outcome.ts";
import type { When } from "./step-shapes.ts";

/** The fields and steps of a channel as the values in its form have them. */

type Channel = SetupStatus["channels"][number];
type Values = Readonly<Record<string, string>>;

/** As entered, else as it is set, else the first choice. */
export function valueOf({ fields }: Pick<Channel, "fields">, values: Values, path: string): string {
  const field = fields.find((one) => one.path === path);
  return values[path] ?? field?.value ?? field?.choices?.[0]?.value ?? "";
}

const isFor = (channel: Pick<Channel, "fields">, values: Values, { when }: { readonly when?: When }): boolean =>
  when === undefined || valueOf(channel, values, when.path) === when.is;

export const fieldsFor = (channel: Channel, values: Values): Channel["fields"] => channel.fields.filter((field) => isFor(channel, values, field));

/** What is sent: values of fields that are shown, without empty ones. */
export function enteredIn(channel: Channel, values: Values): Values {
  const entered = fieldsFor(channel, values).map(({ path }) => [path, values[path] ?? ""] as const);
  return Object.fromEntries(entered.filter(([, value]) => value.trim() !== ""));
}

/** The public address in texts to paste: this page's own, where it is one that a platform can reach. */
export function gatewayAddress({ protocol, hostname, origin }: Pick<Location, "protocol" | "hostname" | "origin">): string {
  const isLocal = /^(?:localhost|127\.[\d.]+|\[::1\]|.*\.local)$/.test(hostname);
  return protocol === "https:" && !isLocal ? origin : "https://gateway.example";
}

/** Steps to show, each with the one text to paste that fits. */
export function stepsFor(channel: Channel, values: Values, gateway: string): Channel["steps"] {
  const filled = (path: string): string | undefined =>
    path === "gateway" ? gateway : valueOf(channel, values, path).trim() || channel.fields.find((field) => field.path === path)?.placeholder;
  return channel.steps
    .filter((step) => isFor(channel, values, step))
    .map((step) => {
      const text = step.copy?.find((one) => isFor(channel, values, one))?.text.replaceAll(/\{([A-Za-z]+)\}/g, (whole, path: string) => filled(path) ?? whole);
      return { ...step, copy: text === undefined ? [] : [{ text }] };
    });
}

import { AppError } from "../../../base/errors.ts";
import type { Io } from "../../io.ts";
import type { Group } from "../../command.ts";
import { printJson } from "../../io.ts";
import { browserCommand, needed, numberOf } from "./ask.ts";

const flag = (help: string) => ({ type: "boolean", help }) as const;
const value = (name: string, help: string) => ({ type: "string", value: name, help }) as const;

export const cookieList = browserCommand({ ask: () => ({ method: "GET", path: "/cookies" }), print: (io, answer) => printJson(io, answer["cookies"] ?? []) });
export const cookieSet = browserCommand({
  positionals: "<name> <value>",
  options: { "cookie-url": value("url", "URL the cookie is for"), domain: value("host", "Domain the cookie is for") },
  ask: ({ "cookie-url": url, domain }, [name, content]) => ({
    path: "/cookies/set",
    params: { cookie: { name: needed(name, "a name"), value: content ?? "", url, domain } },
  }),
});
export const cookieClear = browserCommand({ ask: () => ({ path: "/cookies/clear" }) });

const printValues = (io: Io, answer: Readonly<Record<string, unknown>>): void => printJson(io, answer["values"] ?? {});

/** `storage local` and `storage session`. */
export const storageOf = (kind: "local" | "session"): Group => ({
  entries: [
    {
      name: "get",
      summary: "Show stored values",
      load: () =>
        Promise.resolve(
          browserCommand({ positionals: "[key]", ask: (_values, [key]) => ({ method: "GET", path: `/storage/${kind}`, params: { key } }), print: printValues }),
        ),
    },
    {
      name: "set",
      summary: "Set a value",
      load: () =>
        Promise.resolve(
          browserCommand({
            positionals: "<key> <value>",
            ask: (_values, [key, content]) => ({ path: `/storage/${kind}/set`, params: { key: needed(key, "a key"), value: content ?? "" } }),
          }),
        ),
    },
    { name: "clear", summary: "Remove all values", load: () => Promise.resolve(browserCommand({ ask: () => ({ path: `/storage/${kind}/clear` }) })) },
  ],
  fallback: "get",
  examples: [],
});

function onOff(word: string | undefined): boolean {
  if (word === "on" || word === "off") return word === "on";
  throw new AppError("INVALID_INPUT", "expected on or off");
}

function headersOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `the headers are not JSON: ${text}`, { cause: error });
  }
}

export const setOffline = browserCommand({ positionals: "<on|off>", ask: (_values, [word]) => ({ path: "/set/offline", params: { offline: onOff(word) } }) });
export const setHeaders = browserCommand({
  positionals: "<json>",
  ask: (_values, [json]) => ({ path: "/set/headers", params: { headers: headersOf(needed(json, "headers as JSON")) } }),
});
export const setCredentials = browserCommand({
  positionals: "[user] [password]",
  options: { clear: flag("Send no extra headers") },
  ask: ({ clear }, [username, password]) => ({ path: "/set/credentials", params: { clear, username, password } }),
});
export const setGeo = browserCommand({
  positionals: "[latitude] [longitude]",
  options: { clear: flag("Clear the location"), accuracy: value("m", "Accuracy in meters") },
  ask: ({ clear, accuracy }, [latitude, longitude]) => ({
    path: "/set/geolocation",
    params: { clear, latitude: numberOf(latitude, "latitude"), longitude: numberOf(longitude, "longitude"), accuracy: numberOf(accuracy, "--accuracy") },
  }),
});
export const setMedia = browserCommand({
  positionals: "<dark|light|none>",
  ask: (_values, [colorScheme]) => ({ path: "/set/media", params: { colorScheme } }),
});
export const setTimezone = browserCommand({
  positionals: "<zone>",
  ask: (_values, [timezoneId]) => ({ path: "/set/timezone", params: { timezoneId: needed(timezoneId, "a time zone, such as Europe/Berlin") } }),
});
export const setLocale = browserCommand({
  positionals: "<locale>",
  ask: (_values, [locale]) => ({ path: "/set/locale", params: { locale: needed(locale, "a locale, such as de-DE") } }),
});
export const setDevice = browserCommand({
  positionals: "<name>",
  ask: (_values, [name]) => ({ path: "/set/device", params: { name: needed(name, "a device, such as iPhone 14") } }),
});

export const traceStart = browserCommand({
  options: { "no-screenshots": flag("Without screenshots"), "no-snapshots": flag("Without page content") },
  ask: ({ "no-screenshots": bare, "no-snapshots": light }) => ({ path: "/trace/start", params: { screenshots: bare !== true, snapshots: light !== true } }),
  print: (io, answer) => io.out(`Recording the profile ${String(answer["profile"])}. Stop it with: ${io.runnable("openclaw browser trace stop")}\n`),
});
export const traceStop = browserCommand({
  ask: () => ({ path: "/trace/stop", timeoutMs: 60_000 }),
  print: (io, answer) => io.out(`${String(answer["path"])}\n`),
});

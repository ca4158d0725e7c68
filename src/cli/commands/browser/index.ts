/** `openclaw browser`: the gateway's browser from the command line. */
import type { Group } from "../../command.ts";

const tab: Group = {
  entries: [
    { name: "new", summary: "open a tab", load: async () => (await import("./manage.ts")).tabNew },
    { name: "select", summary: "bring a tab to the front", load: async () => (await import("./manage.ts")).tabSelect },
    { name: "close", summary: "close a tab", load: async () => (await import("./manage.ts")).tabClose },
  ],
  examples: [],
};

const cookies: Group = {
  entries: [
    { name: "list", summary: "the cookies there are", load: async () => (await import("./state.ts")).cookieList },
    { name: "set", summary: "set a cookie", load: async () => (await import("./state.ts")).cookieSet },
    { name: "clear", summary: "remove all cookies", load: async () => (await import("./state.ts")).cookieClear },
  ],
  fallback: "list",
  examples: [],
};

const storage: Group = {
  entries: [
    { name: "local", summary: "what stays", load: async () => (await import("./state.ts")).storageOf("local") },
    { name: "session", summary: "what goes with the tab", load: async () => (await import("./state.ts")).storageOf("session") },
  ],
  examples: [],
};

const set: Group = {
  entries: [
    { name: "offline", summary: "cut the page off from the network", load: async () => (await import("./state.ts")).setOffline },
    { name: "headers", summary: "send these headers as well", load: async () => (await import("./state.ts")).setHeaders },
    { name: "credentials", summary: "user name and password for servers that ask", load: async () => (await import("./state.ts")).setCredentials },
    { name: "geo", summary: "where the browser says it is", load: async () => (await import("./state.ts")).setGeo },
    { name: "media", summary: "dark or light", load: async () => (await import("./state.ts")).setMedia },
    { name: "timezone", summary: "the time zone", load: async () => (await import("./state.ts")).setTimezone },
    { name: "locale", summary: "the language", load: async () => (await import("./state.ts")).setLocale },
    { name: "device", summary: "look like a phone or tablet", load: async () => (await import("./state.ts")).setDevice },
    { name: "viewport", summary: "the size of the page", load: async () => (await import("./page.ts")).resize },
  ],
  examples: [],
};

export const browser: Group = {
  entries: [
    { name: "status", summary: "whether a browser runs", load: async () => (await import("./manage.ts")).status },
    { name: "start", summary: "start the browser", load: async () => (await import("./manage.ts")).start },
    { name: "stop", summary: "stop the browser", load: async () => (await import("./manage.ts")).stop },
    { name: "reset-profile", summary: "remove everything a profile has stored", load: async () => (await import("./manage.ts")).resetProfile },
    { name: "profiles", summary: "the profiles there are", load: async () => (await import("./manage.ts")).profiles },
    { name: "create-profile", summary: "add a profile", load: async () => (await import("./manage.ts")).createProfile },
    { name: "delete-profile", summary: "remove a profile", load: async () => (await import("./manage.ts")).deleteProfile },
    { name: "tabs", summary: "the tabs that are open", load: async () => (await import("./manage.ts")).tabs },
    { name: "open", summary: "open an address in a new tab", load: async () => (await import("./manage.ts")).open },
    { name: "focus", summary: "bring a tab to the front", load: async () => (await import("./manage.ts")).focus },
    { name: "close", summary: "close a tab", load: async () => (await import("./manage.ts")).close },
    { name: "console", summary: "messages of the page's scripts", load: async () => (await import("./manage.ts")).consoleMessages },
    { name: "errors", summary: "errors of the page's scripts", load: async () => (await import("./manage.ts")).errors },
    { name: "requests", summary: "what the page has loaded", load: async () => (await import("./manage.ts")).requests },
    { name: "tab", summary: "tabs by their number: new, select, close", load: () => Promise.resolve(tab) },
    { name: "snapshot", summary: "the page as an outline with refs", load: async () => (await import("./page.ts")).snapshot },
    { name: "screenshot", summary: "a picture of the page", load: async () => (await import("./page.ts")).screenshot },
    { name: "pdf", summary: "the page as a PDF", load: async () => (await import("./page.ts")).pdf },
    { name: "responsebody", summary: "what the page gets from an address", load: async () => (await import("./page.ts")).responseBody },
    { name: "navigate", summary: "go to an address", load: async () => (await import("./page.ts")).navigate },
    { name: "resize", summary: "change the size of the page", load: async () => (await import("./page.ts")).resize },
    { name: "click", summary: "click an element", load: async () => (await import("./page.ts")).click },
    { name: "type", summary: "write into a field", load: async () => (await import("./page.ts")).type },
    { name: "press", summary: "press a key", load: async () => (await import("./page.ts")).press },
    { name: "hover", summary: "point at an element", load: async () => (await import("./page.ts")).hover },
    { name: "drag", summary: "drag one element to another", load: async () => (await import("./page.ts")).drag },
    { name: "select", summary: "choose options", load: async () => (await import("./page.ts")).select },
    { name: "upload", summary: "put files into a page", load: async () => (await import("./page.ts")).upload },
    { name: "fill", summary: "fill several fields", load: async () => (await import("./page.ts")).fill },
    { name: "dialog", summary: "answer the next dialog", load: async () => (await import("./page.ts")).dialog },
    { name: "wait", summary: "wait for the page", load: async () => (await import("./page.ts")).wait },
    { name: "evaluate", summary: "run a script in the page", load: async () => (await import("./page.ts")).evaluate },
    { name: "download", summary: "click and store the download", load: async () => (await import("./page.ts")).download },
    { name: "waitfordownload", summary: "wait for a download", load: async () => (await import("./page.ts")).waitForDownload },
    { name: "highlight", summary: "scroll to an element", load: async () => (await import("./page.ts")).highlight },
    { name: "scrollintoview", summary: "scroll to an element", load: async () => (await import("./page.ts")).scrollIntoView },
    { name: "cookies", summary: "list, set and clear cookies", load: () => Promise.resolve(cookies) },
    { name: "storage", summary: "what pages store: local and session", load: () => Promise.resolve(storage) },
    { name: "set", summary: "network, place, language, device of the browser", load: () => Promise.resolve(set) },
  ],
  fallback: "status",
  examples: [{ line: "openclaw browser", does: "whether a browser runs" }],
};

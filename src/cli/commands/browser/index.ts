/** `openclaw browser`: the gateway's browser from the command line. */
import type { Group } from "../../command.ts";

const tab: Group = {
  entries: [
    { name: "new", summary: "Open a tab", load: async () => (await import("./manage.ts")).tabNew },
    { name: "select", summary: "Bring a tab to the front", load: async () => (await import("./manage.ts")).tabSelect },
    { name: "close", summary: "Close a tab", load: async () => (await import("./manage.ts")).tabClose },
  ],
  examples: [],
};

const cookies: Group = {
  entries: [
    { name: "list", summary: "List cookies", load: async () => (await import("./state.ts")).cookieList },
    { name: "set", summary: "Set a cookie", load: async () => (await import("./state.ts")).cookieSet },
    { name: "clear", summary: "Remove all cookies", load: async () => (await import("./state.ts")).cookieClear },
  ],
  fallback: "list",
  examples: [],
};

const storage: Group = {
  entries: [
    { name: "local", summary: "Local storage", load: async () => (await import("./state.ts")).storageOf("local") },
    { name: "session", summary: "Session storage", load: async () => (await import("./state.ts")).storageOf("session") },
  ],
  examples: [],
};

const extension: Group = {
  entries: [
    { name: "install", summary: "Write the Chrome extension to a folder", load: async () => (await import("./extension.ts")).install },
    { name: "path", summary: "Print the folder of the Chrome extension", load: async () => (await import("./extension.ts")).path },
  ],
  examples: [],
};

const set: Group = {
  entries: [
    { name: "offline", summary: "Take the page offline", load: async () => (await import("./state.ts")).setOffline },
    { name: "headers", summary: "Send extra headers", load: async () => (await import("./state.ts")).setHeaders },
    { name: "credentials", summary: "Credentials for HTTP authentication", load: async () => (await import("./state.ts")).setCredentials },
    { name: "geo", summary: "Set the geolocation", load: async () => (await import("./state.ts")).setGeo },
    { name: "media", summary: "Set the color scheme: dark or light", load: async () => (await import("./state.ts")).setMedia },
    { name: "timezone", summary: "Set the time zone", load: async () => (await import("./state.ts")).setTimezone },
    { name: "locale", summary: "Set the language", load: async () => (await import("./state.ts")).setLocale },
    { name: "device", summary: "Emulate a phone or tablet", load: async () => (await import("./state.ts")).setDevice },
    { name: "viewport", summary: "Set the viewport size", load: async () => (await import("./page.ts")).resize },
  ],
  examples: [],
};

const trace: Group = {
  entries: [
    { name: "start", summary: "Start recording", load: async () => (await import("./state.ts")).traceStart },
    { name: "stop", summary: "Stop recording and save the file", load: async () => (await import("./state.ts")).traceStop },
  ],
  examples: [],
};

export const browser: Group = {
  entries: [
    { name: "status", summary: "Show whether a browser is running", load: async () => (await import("./manage.ts")).status },
    { name: "start", summary: "Start the browser", load: async () => (await import("./manage.ts")).start },
    { name: "stop", summary: "Stop the browser", load: async () => (await import("./manage.ts")).stop },
    { name: "reset-profile", summary: "Delete all data of a profile", load: async () => (await import("./manage.ts")).resetProfile },
    { name: "profiles", summary: "List profiles", load: async () => (await import("./manage.ts")).profiles },
    { name: "create-profile", summary: "Add a profile", load: async () => (await import("./manage.ts")).createProfile },
    { name: "delete-profile", summary: "Remove a profile", load: async () => (await import("./manage.ts")).deleteProfile },
    { name: "tabs", summary: "List open tabs", load: async () => (await import("./manage.ts")).tabs },
    { name: "open", summary: "Open a URL in a new tab", load: async () => (await import("./manage.ts")).open },
    { name: "focus", summary: "Bring a tab to the front", load: async () => (await import("./manage.ts")).focus },
    { name: "close", summary: "Close a tab", load: async () => (await import("./manage.ts")).close },
    { name: "console", summary: "Show console messages", load: async () => (await import("./manage.ts")).consoleMessages },
    { name: "errors", summary: "Show page errors", load: async () => (await import("./manage.ts")).errors },
    { name: "requests", summary: "Show network requests", load: async () => (await import("./manage.ts")).requests },
    { name: "tab", summary: "Manage tabs by number: new, select, close", load: () => Promise.resolve(tab) },
    { name: "snapshot", summary: "Snapshot of the page with element refs", load: async () => (await import("./page.ts")).snapshot },
    { name: "screenshot", summary: "Take a screenshot", load: async () => (await import("./page.ts")).screenshot },
    { name: "pdf", summary: "Save the page as PDF", load: async () => (await import("./page.ts")).pdf },
    { name: "responsebody", summary: "Show the response body of a request", load: async () => (await import("./page.ts")).responseBody },
    { name: "navigate", summary: "Go to a URL", load: async () => (await import("./page.ts")).navigate },
    { name: "resize", summary: "Resize the viewport", load: async () => (await import("./page.ts")).resize },
    { name: "click", summary: "Click an element", load: async () => (await import("./page.ts")).click },
    { name: "type", summary: "Type into a field", load: async () => (await import("./page.ts")).type },
    { name: "press", summary: "Press a key", load: async () => (await import("./page.ts")).press },
    { name: "hover", summary: "Hover over an element", load: async () => (await import("./page.ts")).hover },
    { name: "drag", summary: "Drag one element to another", load: async () => (await import("./page.ts")).drag },
    { name: "select", summary: "Select options", load: async () => (await import("./page.ts")).select },
    { name: "upload", summary: "Upload files", load: async () => (await import("./page.ts")).upload },
    { name: "fill", summary: "Fill several fields", load: async () => (await import("./page.ts")).fill },
    { name: "dialog", summary: "Answer the next dialog", load: async () => (await import("./page.ts")).dialog },
    { name: "wait", summary: "Wait for the page", load: async () => (await import("./page.ts")).wait },
    { name: "evaluate", summary: "Run a script in the page", load: async () => (await import("./page.ts")).evaluate },
    { name: "download", summary: "Click and save the download", load: async () => (await import("./page.ts")).download },
    { name: "waitfordownload", summary: "Wait for a download", load: async () => (await import("./page.ts")).waitForDownload },
    { name: "highlight", summary: "Scroll to an element and highlight it", load: async () => (await import("./page.ts")).highlight },
    { name: "scrollintoview", summary: "Scroll to an element", load: async () => (await import("./page.ts")).scrollIntoView },
    { name: "cookies", summary: "List, set and clear cookies", load: () => Promise.resolve(cookies) },
    { name: "storage", summary: "Local and session storage", load: () => Promise.resolve(storage) },
    { name: "trace", summary: "Record a trace: start and stop", load: () => Promise.resolve(trace) },
    { name: "extension", summary: "Share tabs of your own Chrome: install, path", load: () => Promise.resolve(extension) },
    { name: "set", summary: "Network, location, language and device", load: () => Promise.resolve(set) },
  ],
  fallback: "status",
  leadingFlags: { "browser-profile": true, "target-id": true, url: true, token: true, password: true, timeout: true, json: false },
  examples: [{ line: "openclaw browser", does: "Show whether a browser is running" }],
};

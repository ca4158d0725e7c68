/**
 * Opens the page while the gateway is away. Only the page itself is stored: it shows nothing of anybody, and the browser's own cache has its files.
 * What the gateway answers always comes first.
 */
const CACHE = "page";
const PAGE = self.registration.scope;

/** The gateway's page, by its policy: not a file, a canvas, or what a proxy says. */
const isPage = (response) => response.ok && (response.headers.get("content-security-policy") ?? "").includes("openclaw-offline");

const store = async (response) => (await caches.open(CACHE)).put(PAGE, response);

async function openPage(event) {
  let answer;
  try {
    answer = (await event.preloadResponse) ?? (await fetch(event.request));
  } catch (error) {
    const stored = await caches.match(PAGE);
    if (stored) return stored;
    throw error;
  }
  if (isPage(answer)) event.waitUntil(store(answer.clone()));
  // A proxy answers for a gateway that is away.
  if (answer.status >= 502 && answer.status <= 504) return (await caches.match(PAGE)) ?? answer;
  return answer;
}

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.registration.navigationPreload?.enable()));
self.addEventListener("fetch", (event) => {
  const { mode, destination } = event.request;
  if (mode === "navigate" && destination === "document") event.respondWith(openPage(event));
});
self.addEventListener("message", (event) => {
  // The page that started this worker was not opened through it.
  if (event.data === "store") event.waitUntil(fetch(PAGE).then((answer) => (isPage(answer) ? store(answer) : undefined)));
});

/** What a browser calls itself, looked for in this order: many name others, too. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\b(?:OPR|OPiOS|Opera)\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bYaBrowser\//, "Yandex Browser"],
  [/\bDuckDuckGo\//, "DuckDuckGo"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:HeadlessChrome|Chrome|Chromium|CriOS)\//, "Chrome"],
  [/\bVersion\/[\d.]+ .*\bSafari\//, "Safari"],
  [/\bAppleWebKit\//, "WebKit"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMacintosh\b|\bMac OS X\b/, "Mac"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** More is not read: what a stranger sends costs little. */
const MOST = 512;

/**
 * A name for a browser by which people tell it from another, such as `Firefox on Linux`. It is made of known words only and proves nothing: anybody can
 * send any.
 */
export function browserName(userAgent: string | undefined): string | undefined {
  const said = (userAgent ?? "").slice(0, MOST);
  const found = (names: readonly (readonly [RegExp, string])[]): string | undefined => names.find(([pattern]) => pattern.test(said))?.[1];
  const [browser, system] = [found(BROWSERS), found(SYSTEMS)];
  if (browser === undefined) return system === undefined ? undefined : `Browser on ${system}`;
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Questions that look like operators, SQL, options or nothing at all. */
export const ODD_QUERIES: readonly string[] = [
  'plumber AND (NOT "x OR NEAR(',
  "'; DROP TABLE passages; --",
  "🦆🔧",
  "מי השרברב שלנו؟",
  '"',
  "*",
  "a:b^c",
  "%_",
  "\u202Eplumber\u202C",
  "--",
];

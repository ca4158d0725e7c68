/** The user's zone: as configured if there is such a zone, else the machine's. */
export function userTimeZone(configured: string | undefined, machine: string): string {
  const zone = configured?.trim();
  return zone && isTimeZone(zone) ? zone : machine;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return true;
  } catch {
    return false;
  }
}

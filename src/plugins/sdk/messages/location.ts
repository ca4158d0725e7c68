/** A place on the map as text and as fields of a message. */
import type { NormalizedLocation } from "../../../protocol/index.ts";

function kindOf(location: NormalizedLocation): { source: "pin" | "place" | "live"; isLive: boolean } {
  const source = location.source ?? (location.isLive ? "live" : location.name || location.address ? "place" : "pin");
  return { source, isLive: location.isLive ?? source === "live" };
}

/** One line with coordinates, and the caption below it. */
export function formatLocationText(location: NormalizedLocation): string {
  const { isLive, source } = kindOf(location);
  const accuracy = typeof location.accuracy === "number" && Number.isFinite(location.accuracy) ? ` ±${Math.round(location.accuracy)}m` : "";
  const where = `${location.latitude.toFixed(6)}, ${location.longitude.toFixed(6)}${accuracy}`;
  const name = [location.name, location.address].filter(Boolean).join(" — ");
  const line = isLive || source === "live" ? `🛰 Live location: ${where}` : name ? `📍 ${name} (${where})` : `📍 ${where}`;
  const caption = location.caption?.trim();
  return caption ? `${line}\n${caption}` : line;
}

export interface LocationContext {
  LocationLat: number;
  LocationLon: number;
  LocationAccuracy?: number | undefined;
  LocationName?: string | undefined;
  LocationAddress?: string | undefined;
  LocationSource: "pin" | "place" | "live";
  LocationIsLive: boolean;
}

/** The fields that a message about a place carries. */
export function toLocationContext(location: NormalizedLocation): LocationContext {
  const { source, isLive } = kindOf(location);
  return {
    LocationLat: location.latitude,
    LocationLon: location.longitude,
    LocationAccuracy: location.accuracy,
    LocationName: location.name,
    LocationAddress: location.address,
    LocationSource: source,
    LocationIsLive: isLive,
  };
}

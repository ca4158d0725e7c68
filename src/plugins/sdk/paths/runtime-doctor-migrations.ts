export { archiveLegacyStateSource, defineChannelAliasMigration } from "../values/small.ts";

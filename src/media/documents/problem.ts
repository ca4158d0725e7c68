/** A document that cannot be read, for a reason that its sender can understand. */
export class DocumentProblem extends Error {}

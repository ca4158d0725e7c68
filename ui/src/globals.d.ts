/** Of the build this page comes from. */
declare const __VERSION__: string;

/** Of this package; a test holds it against package.json. Written here, so that a bundle of one file knows it too. */
export const VERSION = '0.1.0';

/** The version of the service; a test holds it against the packages. */
export const VERSION = '0.1.0';

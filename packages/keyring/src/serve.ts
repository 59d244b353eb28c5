// The keyring as a service of its own, for the command that runs it.
export { KeyringError } from './errors.ts';
export { checkRing, KeyringServer, type ServedKeyringOptions } from './socket/server.ts';

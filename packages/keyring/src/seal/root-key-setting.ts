import { KeyringError } from '../errors.ts';

export interface RootKeySource {
  readonly provider: 'file' | 'passphrase';
  readonly ringPath: string;
  readonly passphrasePath: string | undefined;
}

/** `file:PATH` or `passphrase-file:PATH`, whose ring is `PATH.ring`. */
export function parseRootKeySetting(setting: unknown): RootKeySource {
  const [, scheme, path] = (typeof setting === 'string' && /^(file|passphrase-file):([^\0]+)$/s.exec(setting)) || [];
  if (path === undefined) {
    throw new KeyringError('INVALID_INPUT', "the root key setting must be 'file:PATH' or 'passphrase-file:PATH'");
  }
  if (scheme === 'file') return { provider: 'file', ringPath: path, passphrasePath: undefined };
  return { provider: 'passphrase', ringPath: `${path}.ring`, passphrasePath: path };
}

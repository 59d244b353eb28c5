import { assert } from '../../lib/assert.ts';
import type { PrivateKeyFacts, SecretFacts, WalletAccountFacts, WalletFacts } from '../../policy/index.ts';

/** What every wallet and private key has. */
interface NamedKey {
  readonly id: string;
  readonly name: string;
  readonly imported: boolean;
  readonly exported: boolean;
}

interface StoredSecret {
  readonly id: string;
  readonly name: string | undefined;
  readonly staticProperties: readonly { readonly key: string; readonly value: string }[];
}

/** `wallet`, and one of `wallets`. */
export function walletFacts(wallet: NamedKey): WalletFacts {
  return { id: wallet.id, imported: wallet.imported, exported: wallet.exported, label: wallet.name };
}

/** `wallet_account`. Of two spellings of a path the one that is really derived counts: Ed25519 hardens every level. */
export function walletAccountFacts(account: {
  readonly address: string;
  readonly pathKey: string;
}): WalletAccountFacts {
  const levels = account.pathKey.split('/').slice(1);
  assert(
    levels.length > 0 && levels.every((level) => /^[0-9]+'?$/.test(level)),
    'the path of an account is stored in its canonical form',
  );
  return {
    address: account.address,
    path_indexes: levels.map((level) => BigInt(level.replace("'", ''))),
    path_hardened: levels.map((level) => level.endsWith("'")),
  };
}

/** `private_key`. */
export function privateKeyFacts(key: NamedKey & { readonly tagIds: readonly string[] }): PrivateKeyFacts {
  return { id: key.id, tags: key.tagIds, imported: key.imported, exported: key.exported, label: key.name };
}

/** `secret`. A property that was given twice has no one value and is left out. */
export function secretFacts(secret: StoredSecret): SecretFacts {
  const { id, name = '', staticProperties } = secret;
  const times = new Map<string, number>();
  for (const { key } of staticProperties) times.set(key, (times.get(key) ?? 0) + 1);
  const once = staticProperties.filter(({ key }) => times.get(key) === 1);
  return { id, name, static_properties: new Map(once.map(({ key, value }) => [key, value])) };
}

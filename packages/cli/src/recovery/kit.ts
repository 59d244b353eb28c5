import { RecoveryError } from './recovery-error.ts';

// The contents of a recovery kit, as packages/keyring/SPEC.md, section 10, has them.

export interface KitAccount {
  readonly name?: string;
  readonly curve: string;
  readonly path: string;
  readonly addressFormat: string;
  readonly address: string;
}

export interface KitWallet {
  readonly id: string;
  readonly name: string;
  readonly mnemonic: string;
  readonly language: string;
  readonly passphrase?: string;
  readonly accounts: readonly KitAccount[];
}

export interface KitPrivateKey {
  readonly id: string;
  readonly name: string;
  readonly curve: string;
  /** Hexadecimal. */
  readonly privateKey: string;
  readonly addresses: readonly KitAddress[];
}

interface KitAddress {
  readonly addressFormat: string;
  readonly address: string;
  readonly importKeyName: string;
  readonly importKey: string;
}

export interface RecoveryKit {
  readonly madeAt: string;
  readonly organization: { readonly id: string; readonly name: string };
  readonly recipients: readonly string[];
  readonly wallets: readonly KitWallet[];
  readonly privateKeys: readonly KitPrivateKey[];
}

const FORMAT = 'custos-recovery-kit';
const VERSION = 1;

/** Reads what was decrypted. Members that this version does not know are left out. */
export function readKit(text: string, name: string): RecoveryKit {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RecoveryError(`${name} opens, but holds no recovery kit: it is no JSON`);
  }
  const root = new Place(value, name, '');
  if (root.peek('format') !== FORMAT) throw new RecoveryError(`${name} opens, but holds no recovery kit`);
  const version = root.peek('version');
  if (version !== VERSION) {
    const which = Number.isSafeInteger(version) ? `version ${version}` : 'another version';
    throw new RecoveryError(
      `${name} is a kit of ${which}, and this program reads version ${VERSION}: use a newer one. The words are in the file all the same: \`age -d\` shows them`,
    );
  }
  const organization = root.object('organization');
  return {
    madeAt: root.text('madeAt'),
    organization: { id: organization.text('id'), name: organization.text('name') },
    recipients: root.texts('recipients'),
    wallets: root.list('wallets').map((wallet) => ({
      id: wallet.text('id'),
      name: wallet.text('name'),
      mnemonic: wallet.text('mnemonic'),
      language: wallet.text('language'),
      ...wallet.optional('passphrase'),
      accounts: wallet.list('accounts').map((account) => ({
        ...account.optional('name'),
        curve: account.text('curve'),
        path: account.text('path'),
        addressFormat: account.text('addressFormat'),
        address: account.text('address'),
      })),
    })),
    privateKeys: root.list('privateKeys').map((key) => ({
      id: key.text('id'),
      name: key.text('name'),
      curve: key.text('curve'),
      privateKey: key.text('privateKey'),
      addresses: key.list('addresses').map((address) => ({
        addressFormat: address.text('addressFormat'),
        address: address.text('address'),
        importKeyName: address.text('importKeyName'),
        importKey: address.text('importKey'),
      })),
    })),
  };
}

/** A value in the kit, which says where it is but not what it is when it is wrong. */
class Place {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #file: string;
  readonly #path: string;

  constructor(value: unknown, file: string, path: string) {
    this.#file = file;
    this.#path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw this.#wrong('', 'is no object');
    this.#members = value as Readonly<Record<string, unknown>>;
  }

  peek(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? this.#members[name] : undefined;
  }

  text(name: string): string {
    const value = this.peek(name);
    if (typeof value !== 'string') throw this.#wrong(name, 'is no text');
    return value;
  }

  optional<Name extends string>(name: Name): { readonly [N in Name]?: string } {
    return this.peek(name) === undefined ? {} : ({ [name]: this.text(name) } as { readonly [N in Name]: string });
  }

  object(name: string): Place {
    return new Place(this.peek(name), this.#file, this.#at(name));
  }

  texts(name: string): string[] {
    const value = this.#array(name);
    if (!value.every((item) => typeof item === 'string')) throw this.#wrong(name, 'is no list of texts');
    return value as string[];
  }

  list(name: string): Place[] {
    return this.#array(name).map((item, index) => new Place(item, this.#file, `${this.#at(name)}[${index}]`));
  }

  #array(name: string): unknown[] {
    const value = this.peek(name);
    if (!Array.isArray(value)) throw this.#wrong(name, 'is no list');
    return value;
  }

  #at(name: string): string {
    return this.#path === '' ? name : `${this.#path}.${name}`;
  }

  #wrong(name: string, how: string): RecoveryError {
    return new RecoveryError(`${this.#file} opens, but is not as a kit is: ${this.#at(name) || 'it'} ${how}`);
  }
}

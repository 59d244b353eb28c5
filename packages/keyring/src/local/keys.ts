import { Buffer } from 'node:buffer';
import { copyOf } from '../check/shape.ts';
import { closed } from '../errors.ts';
import type { Holder } from '../keyring.ts';
import type { Kind } from '../kinds.ts';
import * as envelope from '../seal/envelope.ts';
import * as layout from '../seal/layout.ts';
import type { RootKeyRing } from '../seal/root-key.ts';
import { Secret } from '../secret.ts';
import { SecretCache } from '../secret-cache.ts';
import { ServiceKeys } from '../service-keys.ts';
import type { TransferGate } from '../transfers/limits.ts';
import { ProofKeys } from './proof-keys.ts';
import { WalletKeys } from './wallet-keys.ts';

const ORGANIZATION_KEYS_MAX = 256;

/** Everything secret that a keyring has in memory. The functions of all calls are given it, and keep nothing. */
export class Keys {
  readonly ring: RootKeyRing;
  readonly random: envelope.RandomBytes;
  readonly transfers: TransferGate;
  readonly service = new ServiceKeys();
  readonly wallets = new WalletKeys(this);
  readonly proof: ProofKeys;
  readonly #organizations = new SecretCache<envelope.OrganizationKey>(ORGANIZATION_KEYS_MAX, ({ key, earlier }) => {
    key.fill(0);
    earlier?.key.fill(0);
  });
  readonly #closing = new AbortController();

  constructor(ring: RootKeyRing, random: envelope.RandomBytes, transfers: TransferGate) {
    this.ring = ring;
    this.random = random;
    this.transfers = transfers;
    this.proof = new ProofKeys(random);
  }

  /** Aborted when everything is wiped. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  checkOpen(): void {
    if (this.closing.aborted) throw closed();
  }

  /** Takes over the plaintext and wipes it. */
  seal({ organizationKey, ...owner }: Holder, kind: Kind, plaintext: Uint8Array): Promise<Uint8Array> {
    return new Secret(plaintext).use(async (bytes) =>
      this.withOrganizationKey(organizationKey, owner.organizationId, (key) =>
        envelope.sealSecret(key, { ...owner, kind }, bytes, this.random),
      ),
    );
  }

  /** Lends what was sealed and wipes it after its use. */
  async unseal<T>(
    { organizationKey, ...owner }: Holder,
    kind: Kind,
    sealed: Uint8Array,
    use: (plaintext: Uint8Array) => T,
  ): Promise<Awaited<T>> {
    const parsed = layout.decodeSealedSecret(sealed);
    return await this.withOrganizationKey(organizationKey, owner.organizationId, (key) =>
      new Secret(envelope.openSecret(key, { ...owner, kind }, parsed)).use(use),
    );
  }

  hasOpened(organizationKey: Uint8Array, organizationId: string): boolean {
    const wrapped = layout.decodeOrganizationKeys(organizationKey);
    return (
      !this.closing.aborted &&
      wrapped.every(({ rootKeyId }) => this.ring.has(layout.keyIdText(rootKeyId))) &&
      this.#organizations.get(organizationName(organizationKey, organizationId)) !== undefined
    );
  }

  /** Lends the opened key for one synchronous use, so that it cannot be wiped under its user. */
  async withOrganizationKey<T>(
    organizationKey: Uint8Array,
    organizationId: string,
    use: (key: envelope.OrganizationKey) => T,
  ): Promise<T> {
    // A copy, because the name in the cache and the bytes that are opened must be the same after the await.
    const bytes = copyOf(organizationKey);
    const wrapped = layout.decodeOrganizationKeys(bytes);
    for (const { rootKeyId } of wrapped) await this.ring.ensure(layout.keyIdText(rootKeyId));
    this.checkOpen();
    const roots = wrapped.map(({ rootKeyId }) => this.ring.get(layout.keyIdText(rootKeyId)));
    const name = organizationName(bytes, organizationId);
    const known = this.#organizations.get(name);
    return use(known ?? this.#organizations.put(name, unwrapAll(roots, organizationId, wrapped)));
  }

  wipe(): void {
    this.#closing.abort();
    this.#organizations.clear();
    this.wallets.clear();
    this.service.clear();
    this.proof.clear();
    this.ring.wipe();
  }
}

function unwrapAll(
  roots: readonly envelope.RootKey[],
  organizationId: string,
  wrapped: readonly layout.WrappedOrganizationKey[],
): envelope.OrganizationKey {
  const [key, earlier] = wrapped.map((each, index) =>
    envelope.unwrapOrganizationKey(roots[index] as envelope.RootKey, organizationId, each),
  );
  return { ...(key as envelope.OrganizationKey), ...(earlier !== undefined && { earlier }) };
}

/** Wrapped keys are all of one length, or of twice that. */
const organizationName = ({ buffer, byteOffset, length }: Uint8Array, organizationId: string): string =>
  `${Buffer.from(buffer, byteOffset, length).toString('latin1')}${organizationId}`;

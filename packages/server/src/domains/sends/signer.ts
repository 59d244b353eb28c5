import { type Curve, INSTALLATION_ID, type Keyring, type SigningKey } from '@custos/keyring';
import { SignerGone } from '../../chains/send/errors.ts';
import type { SendScheme, SendSigner } from '../../chains/send/signer.ts';
import { InstallationReader } from '../../core/store/installation.ts';
import { SealedReader } from '../../core/store/sealed.ts';
import type { OrganizationId } from '../../lib/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { SignerReader } from '../wallets/store/signers.ts';
import { OperatorKeyReader } from './store/operator-keys.ts';

interface SignerParts {
  readonly storage: Pick<Storage, 'read'>;
  readonly keyring: Pick<Keyring, 'sign'>;
}

const CURVES: Readonly<Record<SendScheme, Curve>> = { ecdsa: 'CURVE_SECP256K1', eddsa: 'CURVE_ED25519' };

export function createSendSigner({ storage: { read }, keyring }: SignerParts): SendSigner {
  /** The sealed key behind an address, and who owns it. */
  async function findKey(
    organizationId: OrganizationId,
    address: string,
  ): Promise<{ readonly ownerId: string; readonly key: SigningKey } | undefined> {
    const found = await read(SignerReader).find(organizationId, { address });
    if (found === undefined) return undefined;
    if (found.kind === 'wallet-account') {
      const { curve, path } = found.account;
      return { ownerId: found.wallet.id, key: { kind: 'wallet', sealed: found.wallet.sealedSeed, curve, path } };
    }
    const { id, sealedKey, curve } = found.key;
    return { ownerId: id, key: { kind: 'private-key', sealed: sealedKey, curve } };
  }

  return {
    async sign(organizationId, address, scheme, payloads) {
      const found = await findKey(organizationId, address);
      if (found === undefined) throw new SignerGone(`the key of ${address} is not in the organization any more`);
      const { ownerId, key } = found;
      const organizationKey = await read(SealedReader).organizationKey(organizationId);
      if (organizationKey === undefined) throw new SignerGone(`the organization of ${address} is not there any more`);
      return await keyring.sign({ organizationKey, organizationId, ownerId }, key, scheme, payloads);
    },

    async signAsOperator(caip2, address, scheme, payloads) {
      const [key, installationKey] = await Promise.all([
        read(OperatorKeyReader).operatorKey(caip2, address),
        read(InstallationReader).get('deployment_key'),
      ]);
      if (key === undefined || installationKey === undefined) {
        throw new SignerGone(
          `the operator's key of ${address} on ${caip2} is not there: \`custos chains import-key --chain ${caip2}\``,
        );
      }
      return await keyring.sign(
        { organizationKey: Buffer.from(installationKey, 'hex'), organizationId: INSTALLATION_ID, ownerId: caip2 },
        { kind: 'private-key', sealed: key.sealedKey, curve: CURVES[scheme] },
        scheme,
        payloads,
      );
    },
  };
}

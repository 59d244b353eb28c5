import { type AccountSpec, type DerivedAccount, parsePath } from '@custos/keyring';
import Type from 'typebox';
import { named, say } from '../../../describe/text.ts';
import { defineActivity } from '../../../engine/define.ts';
import { holderOf } from '../../../engine/holder.ts';
import { invalidField } from '../../../lib/errors.ts';
import type { WalletId } from '../../../lib/ids.ts';
import { IdShape, NameShape } from '../../../lib/shapes.ts';
import { addAccounts } from '../../wallets/accounts.ts';
import { WalletReader, WalletStore } from '../../wallets/store/wallets.ts';
import type { Operator } from '../model.ts';
import { ManifestNameShape, OperatorPathShape } from '../shapes.ts';
import { TvcStore } from '../store.ts';

const ACCOUNT = {
  curve: 'CURVE_P256',
  pathFormat: 'PATH_FORMAT_BIP32',
  addressFormat: 'ADDRESS_FORMAT_COMPRESSED',
} as const;

/** The first child of the path is to encrypt to, the second signs: no key has two purposes. */
const accountsOf = (path: string) => [
  { ...ACCOUNT, path: `${path}/0` },
  { ...ACCOUNT, path: `${path}/1` },
];

const specsOf = (path: string): AccountSpec[] =>
  accountsOf(path).map(({ curve, path: child, addressFormat }) => ({ curve, path: child, addressFormat }));

const WORDS = 12;

/**
 * protocol/deployments 1.1. Its accounts are wallet accounts like others, so that sign_raw_payload makes its approvals.
 */
export const createTvcOperator = defineActivity({
  name: 'create_tvc_operator',
  type: 'ACTIVITY_TYPE_CREATE_TVC_OPERATOR',
  summary: 'Create an operator whose signing and encryption keys are derived from a wallet, a new one or one there is.',
  policy: { governedBy: 'policy', resource: 'TVC_OPERATOR', action: 'CREATE' },
  credentials: 'none',
  scope: 'parent',
  parameters: Type.Object({
    walletName: Type.Optional(NameShape),
    walletId: Type.Optional(IdShape),
    path: OperatorPathShape,
    operatorName: ManifestNameShape,
  }),
  sentence: ({ operatorName }) => say`Add operator ${named(operatorName)}, who can approve manifests.`,
  result: Type.Object({
    walletId: Type.String(),
    operatorId: Type.String(),
    encryptPublicKey: Type.String(),
    signPublicKey: Type.String(),
  }),
  check({ walletName, walletId, path }) {
    if ((walletName === undefined) === (walletId === undefined)) {
      throw invalidField(
        walletId === undefined ? 'parameters.walletName' : 'parameters.walletId',
        'give walletName for a new wallet or walletId for one there is, not both',
      );
    }
    try {
      for (const derived of [path, ...accountsOf(path).map((account) => account.path)]) parsePath(derived);
    } catch {
      throw invalidField('parameters.path', "must look like m/5527107'/0'/0', with 1 to 9 levels", 'INVALID_PATH');
    }
  },
  async describe({ read, actor }, { walletId }) {
    return walletId === undefined ? undefined : await read(WalletReader).get(actor.organizationId, walletId);
  },
  async prepare(context, { path }, wallet) {
    const { keyring, newId } = context;
    const id: WalletId = wallet?.id ?? newId();
    if (wallet !== undefined) {
      const accounts = await keyring.deriveAccounts(holderOf(context, id), wallet.sealedSeed, specsOf(path));
      return { id, accounts, sealedSeed: undefined };
    }
    return { id, ...(await keyring.createWallet(holderOf(context, id), WORDS, specsOf(path))) };
  },
  async execute(context, { walletName, path, operatorName }, { id, accounts, sealedSeed }) {
    const { store, actor, newId, nowMs } = context;
    const { organizationId } = actor;
    if (sealedSeed === undefined) await store(WalletStore).get(organizationId, id);
    else {
      const name = walletName as string;
      const state = { exported: false, imported: false, createdAtMs: nowMs, updatedAtMs: nowMs };
      await store(WalletStore).insert(organizationId, { id, name, sealedSeed, ...state });
    }
    await addAccounts(context, { id }, accountsOf(path), accounts);
    const [encrypt, sign] = accounts as [DerivedAccount, DerivedAccount];
    const operator: Operator = {
      id: newId(),
      name: operatorName,
      encryptPublicKey: encrypt.publicKey,
      signPublicKey: sign.publicKey,
      keySource: 'ORG_WALLET_ACCOUNT',
      createdAtMs: nowMs,
    };
    await store(TvcStore).insertOperator(organizationId, operator);
    return {
      walletId: id,
      operatorId: operator.id,
      encryptPublicKey: encrypt.publicKey,
      signPublicKey: sign.publicKey,
    };
  },
  newAddresses: (_parameters, { id, accounts }) =>
    accounts.map(({ path, address }) => ({ walletId: id, derivationPath: path, address })),
});

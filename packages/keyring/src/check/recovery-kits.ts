import { invalid } from '../derive/check.ts';
import type { AccountForKit, PrivateKeyForKit, RecoveryKitContents, WalletForKit } from '../keyring.ts';
import { RECIPIENTS_MAX, recipientFault } from '../recovery-kit/recipients.ts';
import { type AccountPlan, checkAccounts, checkFormatName, checkSealed } from './keys.ts';
import { listOf, membersOf, nameOf } from './shape.ts';

// How many there may be of each follows from the bytes of the call.
const LIST_MAX = 1_000_000;
const NAME_LENGTH_MAX = 1024;
const ADDRESS_LENGTH_MAX = 256;
/** As Date has them. */
const TIME_MAX = 8.64e15;

export function checkRecipients(recipients: unknown): string[] {
  const checked = listOf(recipients, 'recipients', 1, RECIPIENTS_MAX).map((recipient) => {
    const fault = recipientFault(recipient);
    if (fault !== undefined) throw invalid(`a recipient ${fault}`);
    return recipient as string;
  });
  if (new Set(checked).size !== checked.length) throw invalid('a recipient is given twice');
  return checked;
}

/** At least one wallet or key: an empty kit would be taken for one that helps. */
export function checkKitContents(contents: unknown): RecoveryKitContents {
  const { organizationName, madeAtMs, wallets, privateKeys } = membersOf<RecoveryKitContents>(contents, 'the contents');
  const checked = {
    organizationName: shownOf(organizationName, 'organizationName'),
    madeAtMs: timeOf(madeAtMs),
    wallets: listOf(wallets, 'wallets', 0, LIST_MAX).map(checkWallet),
    privateKeys: listOf(privateKeys, 'privateKeys', 0, LIST_MAX).map(checkPrivateKey),
  };
  if (checked.wallets.length + checked.privateKeys.length === 0) throw invalid('a kit holds a wallet or a private key');
  return checked;
}

function checkWallet(wallet: unknown): WalletForKit {
  const { walletId, name, sealedSeed, accounts } = membersOf<WalletForKit>(wallet, 'a wallet');
  return {
    walletId: nameOf(walletId, 'walletId'),
    name: shownOf(name, 'the name of a wallet'),
    sealedSeed: checkSealed(sealedSeed, 'sealedSeed'),
    accounts: listOf(accounts, 'accounts', 0, LIST_MAX).map(checkAccount),
  };
}

function checkAccount(account: unknown): AccountForKit {
  const { name, address } = membersOf<AccountForKit>(account, 'an account');
  const [{ curve, pathKey, addressFormat }] = checkAccounts([account]) as [AccountPlan];
  return {
    ...(name !== undefined && { name: shownOf(name, 'the name of an account') }),
    curve,
    // As it is derived: other programs take no path for Ed25519 that is not hardened throughout.
    path: pathKey,
    addressFormat,
    address: addressOf(address),
  };
}

function checkPrivateKey(key: unknown): PrivateKeyForKit {
  const { privateKeyId, name, sealedKey, addresses } = membersOf<PrivateKeyForKit>(key, 'a private key');
  return {
    privateKeyId: nameOf(privateKeyId, 'privateKeyId'),
    name: shownOf(name, 'the name of a private key'),
    sealedKey: checkSealed(sealedKey, 'sealedKey'),
    addresses: listOf(addresses, 'addresses', 0, LIST_MAX).map((each) => {
      const { addressFormat, address } = membersOf<PrivateKeyForKit['addresses'][number]>(each, 'an address');
      return { addressFormat: checkFormatName(addressFormat), address: addressOf(address) };
    }),
  };
}

const addressOf = (address: unknown): string => shownOf(address, 'an address', ADDRESS_LENGTH_MAX);

/** Any text: JSON has a spelling for each, and a name is no reason to lack a kit. */
function shownOf(value: unknown, name: string, lengthMax = NAME_LENGTH_MAX): string {
  if (typeof value !== 'string' || value.length > lengthMax) {
    throw invalid(`${name} must be text of at most ${lengthMax} characters`);
  }
  return value;
}

function timeOf(time: unknown): number {
  if (typeof time !== 'number' || !Number.isInteger(time) || Math.abs(time) > TIME_MAX) {
    throw invalid('madeAtMs must be a moment in milliseconds');
  }
  return time;
}

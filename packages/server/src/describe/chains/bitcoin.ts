import type { BitcoinOutput } from '../../chains/bitcoin/bitcoin.ts';
import type { ParsedBitcoin } from '../../chains/bitcoin/parsed.ts';
import { type BitcoinNetwork, scriptAddress } from '../../chains/bitcoin/script.ts';
import { sha256, toHex } from '../../lib/encoding.ts';
import type { Mark } from '../risk.ts';
import { type Field, type Recipient, riskOf, type Sentence, type SentenceContext } from '../sentence.ts';
import { counted, listOf, say, strong, type TextPart } from '../text.ts';
import { addressPart, amount, amountText } from '../values.ts';
import { distinctMarks, worstConsequence } from './clauses.ts';
import { feeWords } from './fee.ts';
import { cautionOf, historyText, partyPart, recipientOf, senderOf, signerOf, signerPart } from './parties.ts';

const BTC = { symbol: 'BTC', decimals: 8 };
const BITCOIN = 'bip122';

/** By the format of the account's address: a transaction of Bitcoin names no network. */
const NETWORKS: Readonly<Record<BitcoinNetwork, string>> = {
  MAINNET: 'Bitcoin',
  TESTNET: 'Bitcoin testnet',
  SIGNET: 'Bitcoin signet',
  REGTEST: 'Bitcoin regtest',
};

/** What leaves the account; change that comes back to it is told as such. */
export function bitcoinSentence(
  context: SentenceContext,
  { transaction, signedScript, ownScripts }: ParsedBitcoin,
  network: BitcoinNetwork,
  unsigned: string,
  signWith: string,
): Sentence {
  const isChange = ({ scriptPubkey }: BitcoinOutput): boolean => ownScripts.has(scriptPubkey);
  const paid = transaction.outputs.filter((output) => !isChange(output)).map((output) => paidOf(context, output));
  const change = transaction.outputs.filter(isChange);
  const from = signerPart(context, signWith);
  const main = network === 'MAINNET' ? undefined : mainnetAccount(context, ownScripts);
  const where = say` on ${strong(NETWORKS[network])}${main === undefined ? '' : say`, or on ${strong(NETWORKS.MAINNET)} out of ${partyPart(context, main)}`}`;
  const total = paid.reduce((sum, { value }) => sum + value, 0n);
  // The signer proves what its inputs hold, so the fee is known to the last unit (docs/decisions/0027).
  const fee = feeWords({ family: 'bip122', most: transaction.fee, unit: BTC, sent: total, isExact: true });
  const feeText = say`, with a fee of ${amount(transaction.fee, BTC)}`;
  const foreign = transaction.inputs.filter(({ scriptPubkey }) => scriptPubkey !== signedScript).length;
  const shared =
    foreign === 0 ? say`` : say`; ${counted(foreign, 'input')} of others ${foreign === 1 ? 'is' : 'are'} in it`;
  const [only] = paid;
  const parts =
    only === undefined
      ? say`Move coins of ${from} within itself${where}${feeText}${shared}.`
      : paid.length === 1
        ? say`Send ${amount(only.value, BTC)} from ${from}${where}${feeText}${shared} to ${only.party}${only.words}.`
        : say`Send ${amount(total, BTC)} from ${from}${where}: ${listOf(paid.map(({ clause }) => clause))}${feeText}${shared}.`;
  const marks: readonly Mark[] = [
    ...paid.flatMap(({ marks: found }) => found),
    ...fee.marks,
    ...(main === undefined ? [] : EVERYWHERE.marks),
    ...(foreign > 0 ? [{ risk: 'LOOK_CLOSELY' as const, text: 'others sign inputs of it too' }] : []),
  ];
  const consequence =
    worstConsequence([...(main === undefined ? [] : [EVERYWHERE]), ...paid, fee]) ??
    (marks.length === 0 ? undefined : 'I have read every output of this transaction.');
  const bytes = Buffer.from(unsigned, 'hex');
  return {
    parts,
    marks: distinctMarks(marks),
    ...(consequence !== undefined && { consequence }),
    steps:
      paid.length < 2
        ? []
        : [
            ...paid.map(({ clause, marks: found }) => ({
              sentence: say`send ${clause}`,
              risk: riskOf({ marks: found }),
            })),
            ...change.map(({ value }) => ({
              sentence: say`keep ${amount(value, BTC)} as change in ${from}`,
              risk: 'ROUTINE' as const,
            })),
          ],
    fields: [
      ...paid.map(({ field }) => field),
      ...change.map((output) => ({
        ...outputField(output),
        label: 'Change',
        note: 'comes back to the account that signs',
      })),
      fee.field,
      { label: 'Inputs', value: say`${transaction.inputs.length}`, kind: 'TEXT' },
    ],
    sender: senderOf(context, signWith),
    recipients: paid.flatMap(({ recipient }) => recipient ?? []),
    // Each input has a digest of its own; what identifies the whole is the digest of the PSBT.
    bytes: { algorithm: 'sha-256', digest: `0x${toHex(sha256(bytes))}`, unsigned: `0x${toHex(bytes)}` },
  };
}

/** An account of the organization on the main network that the same scripts belong to: the same signature spends there. */
const mainnetAccount = (context: SentenceContext, scripts: ReadonlySet<string>): string | undefined =>
  [...scripts]
    .map((script) => scriptAddress('MAINNET', Buffer.from(script, 'hex')).address)
    .find((address) => signerOf(context, address) !== undefined);

const EVERYWHERE = {
  marks: [{ risk: 'DANGER', text: 'the key has coins on the main network too, and the signature is good there' }],
  consequence:
    'The inputs may be coins of the main network, although the account is one of a test network. I want them spent.',
} as const;

interface Paid {
  readonly value: bigint;
  readonly party: TextPart;
  /** What is to be said of the recipient. */
  readonly words: readonly TextPart[];
  readonly clause: readonly TextPart[];
  readonly marks: readonly Mark[];
  readonly consequence?: string;
  readonly recipient?: Recipient;
  readonly field: Field;
}

function paidOf(context: SentenceContext, output: BitcoinOutput): Paid {
  const { address, value } = output;
  if (address === '') {
    const party = strong('a script without an address');
    return {
      value,
      party,
      words: [],
      clause: say`${amount(value, BTC)} to ${party}`,
      marks: [{ risk: 'LOOK_CLOSELY', text: 'pays a script without an address' }],
      field: outputField(output),
    };
  }
  const recipient = recipientOf(context, address, BITCOIN);
  const caution = cautionOf(context, recipient, BITCOIN);
  const party = partyPart(context, address);
  const words = caution?.words ?? [];
  return {
    value,
    party,
    words,
    clause: say`${amount(value, BTC)} to ${party}${words}`,
    marks: caution === undefined ? [] : [caution.mark],
    ...(caution !== undefined && { consequence: caution.consequence }),
    recipient,
    field: { ...outputField(output), note: historyText(recipient, context.nowMs) },
  };
}

const outputField = ({ address, value, scriptPubkey }: BitcoinOutput): Field => ({
  label: 'Output',
  value: say`${address === '' ? scriptPubkey : { ...addressPart(address), text: address }} ${amountText(value, BTC)}`,
  kind: 'ADDRESS',
});

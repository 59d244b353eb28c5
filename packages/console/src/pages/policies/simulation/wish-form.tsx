import { useId } from 'react';
import { placesOf, useChains } from '../../../api/chains.ts';
import { useApi } from '../../../api/use-api.ts';
import { ENUMS } from '../../../generated/policy-language.ts';
import { useDraft } from '../../../kit/drafts.ts';
import { TextArea, TextField } from '../../../kit/field.tsx';
import { Segmented } from '../../../kit/segmented.tsx';
import { Select } from '../../../kit/select.tsx';
import { shortAddress } from '../../../lib/addresses.ts';
import { chainName } from '../../../lib/chains.ts';
import { useSessionOrThrow } from '../../../session/session.ts';
import { type Asset, checkAmount, checkRecipient, sendWish } from '../../wallets/send-form-model.ts';
import { type Asked, parseParameters } from './past.ts';
import styles from './simulation.module.css';

const INITIAL = {
  shape: 'payment' as 'payment' | 'any',
  userId: '',
  walletId: '',
  place: '',
  asset: '',
  to: '',
  amount: '',
  type: 'ACTIVITY_TYPE_CREATE_WALLET',
  parameters: '{\n  "walletName": "New",\n  "accounts": []\n}',
};

/** A request that nobody made yet: by whom, and for what. */
export function useWishForm(isOn: boolean) {
  const { value, set } = useDraft('policy simulation', INITIAL);
  const { userId: me } = useSessionOrThrow();
  const submitterUserId = value.userId === '' ? me : value.userId;
  const isPayment = isOn && value.shape === 'payment';

  const wallets = useApi('listWallets', {}, { enabled: isPayment }).data?.wallets ?? [];
  const walletId = value.walletId || (wallets[0]?.walletId ?? '');
  const accounts = useApi('listWalletAccounts', { walletId }, { enabled: isPayment && walletId !== '' });
  const chains = useChains().data?.chains ?? [];
  const places = placesOf(accounts.data?.accounts ?? [], chains).filter(({ chain }) => chain !== undefined);
  const place = places.find(({ key }) => key === value.place) ?? places[0];
  const caip2 = place?.chain?.caip2 ?? '';
  const supported = useApi('listSupportedAssets', { caip2 }, { enabled: isPayment && caip2 !== '' });
  const assets = (supported.data?.assets ?? []).map(
    ({ caip19, symbol, decimals }): Asset => ({
      caip19,
      symbol,
      decimals,
      isNative: caip19 === place?.chain?.nativeAsset.caip19,
      balance: undefined,
    }),
  );
  const asset = assets.find(({ caip19 }) => caip19 === value.asset) ?? assets[0];
  const to = checkRecipient(value.to, caip2);
  const amount = asset && checkAmount(value.amount, asset);

  const parsed = parseParameters(value.parameters);
  const wish = isPayment
    ? place && asset && to && 'address' in to && amount && 'value' in amount
      ? sendWish(place, asset, to.address, amount.value)
      : undefined
    : 'parameters' in parsed && value.type.trim() !== ''
      ? { type: value.type.trim(), parameters: parsed.parameters }
      : undefined;
  const asked: Asked | undefined = isOn && wish !== undefined ? { wish, submitterUserId } : undefined;
  return { value, set, submitterUserId, wallets, walletId, places, place, assets, asset, to, amount, parsed, asked };
}

type Form = ReturnType<typeof useWishForm>;

export function WishForm({ form }: { readonly form: Form }) {
  const { value, set, submitterUserId } = form;
  const users = useApi('listUsers');
  return (
    <div className={styles.form}>
      <Segmented
        wide
        label="What is asked for"
        items={[
          { id: 'payment', label: 'Payment' },
          { id: 'any', label: 'Any request' },
        ]}
        value={value.shape}
        onChange={(shape) => set({ shape })}
      />
      <Select
        label="By"
        value={submitterUserId}
        onChange={(userId) => set({ userId })}
        options={(users.data?.users ?? []).map(({ userId, userName }) => ({ value: userId, label: userName }))}
      />
      {value.shape === 'payment' ? <Payment form={form} /> : <AnyRequest form={form} />}
    </div>
  );
}

function Payment({ form }: { readonly form: Form }) {
  const { value, set, wallets, walletId, places, place, assets, asset, to, amount } = form;
  return (
    <>
      <Select
        label="From"
        value={walletId}
        onChange={(next) => set({ walletId: next, place: '', asset: '' })}
        options={wallets.map((wallet) => ({ value: wallet.walletId, label: wallet.walletName }))}
      />
      {places.length > 1 && (
        <Select
          label="Account"
          value={place?.key}
          onChange={(key) => set({ place: key, asset: '' })}
          options={places.map(({ key, account, chain }) => ({
            value: key,
            label: `${shortAddress(account.address)} on ${chainName(chain?.caip2 ?? '')}`,
          }))}
        />
      )}
      <TextField
        label="To"
        mono
        value={value.to}
        onChange={(next) => set({ to: next })}
        error={to !== undefined && 'error' in to ? to.error : undefined}
      />
      <div className={styles.pair}>
        <TextField
          label="Amount"
          inputMode="decimal"
          alignRight
          value={value.amount}
          onChange={(next) => set({ amount: next })}
          error={amount !== undefined && 'error' in amount ? amount.error : undefined}
        />
        <Select
          label="Asset"
          value={asset?.caip19}
          onChange={(caip19) => set({ asset: caip19 })}
          options={assets.map(({ caip19, symbol }) => ({ value: caip19, label: symbol }))}
        />
      </div>
    </>
  );
}

function AnyRequest({ form: { value, set, parsed } }: { readonly form: Form }) {
  const id = useId();
  return (
    <>
      <TextField
        label="Type"
        mono
        list={id}
        value={value.type}
        onChange={(type) => set({ type })}
        help="As in the request: ACTIVITY_TYPE_…"
      />
      <datalist id={id}>
        {(ENUMS['activity.type'] ?? []).map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <TextArea
        label="Parameters"
        hint="JSON"
        mono
        rows={6}
        value={value.parameters}
        onChange={(parameters) => set({ parameters })}
        error={'error' in parsed ? parsed.error : undefined}
      />
    </>
  );
}

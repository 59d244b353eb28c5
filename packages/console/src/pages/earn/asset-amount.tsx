import { useApi } from '../../api/use-api.ts';
import { Amount } from '../../kit/amount.tsx';
import { chainOf } from './earn-model.ts';

export interface AssetAmountProps {
  readonly caip19: string;
  /** Of the smallest unit; empty where it is not known. */
  readonly units: string;
  readonly strong?: boolean;
}

/** An amount of an asset that the operator has configured, with its unit. */
export function AssetAmount({ caip19, units, strong = false }: AssetAmountProps) {
  const { data } = useApi('listSupportedAssets', { caip2: chainOf(caip19) });
  if (units === '') return 'not known';
  const asset = data?.assets.find((one) => one.caip19.toLowerCase() === caip19.toLowerCase());
  const unit = asset?.symbol ?? caip19.slice(caip19.lastIndexOf(':') + 1);
  return data === undefined ? null : <Amount value={units} decimals={asset?.decimals} unit={unit} strong={strong} />;
}

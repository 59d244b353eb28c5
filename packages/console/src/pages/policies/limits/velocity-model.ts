import type { CreateVelocityControlParameters } from '@custos/sdk';

/** A limit as somebody fills it in. */
export interface VelocityForm {
  readonly name: string;
  readonly counts: 'asset' | 'activities';
  readonly caip19: string;
  readonly decimals: string;
  readonly type: string;
  readonly threshold: string;
  readonly window: '1h' | '24h' | '7d' | '30d' | 'ever';
  readonly group: 'organization' | 'user' | 'wallet';
  readonly refusesUncounted: boolean;
}

export const NEW_LIMIT: VelocityForm = {
  name: '',
  counts: 'asset',
  caip19: '',
  decimals: '',
  type: '',
  threshold: '',
  window: '24h',
  group: 'organization',
  refusesUncounted: false,
};

/** Programs know a control by it: letters and digits of the name, joined by dashes. */
export const identifierOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 64) || 'limit';

/** What `create_velocity_control` takes. */
export function toControl(form: VelocityForm): CreateVelocityControlParameters {
  const filter = form.type.trim() === '' ? {} : { filter: { activity: [{ activityType: form.type.trim() }] } };
  return {
    name: form.name.trim(),
    identifier: identifierOf(form.name),
    dataSource:
      form.counts === 'asset'
        ? {
            chainAssetTransfer: {
              definition: [{ caip19: form.caip19.trim(), decimals: form.decimals.trim() }],
              ...filter,
            },
          }
        : { activityExecution: filter },
    aggregation: {
      method:
        form.counts === 'asset'
          ? 'VELOCITY_CONTROL_AGGREGATION_METHOD_SUM'
          : 'VELOCITY_CONTROL_AGGREGATION_METHOD_COUNT',
      operator: 'VELOCITY_CONTROL_AGGREGATION_OPERATOR_LESS_THAN_OR_EQUAL',
      threshold: form.threshold.replace(/,/g, '').trim(),
      window: form.window === 'ever' ? { infinite: {} } : { rolling: { duration: form.window } },
      groupBy: { [form.group]: {} },
    },
    ...(form.refusesUncounted && form.counts === 'asset' && { refuseUncounted: true }),
  };
}

/** What is missing or wrong, by field. */
export function problemsOf(form: VelocityForm): Partial<Record<'name' | 'caip19' | 'decimals' | 'threshold', string>> {
  return {
    ...(form.name.trim() === '' && { name: 'Give the limit a name.' }),
    ...(form.counts === 'asset' && form.caip19.trim() === '' && { caip19: 'Say which asset counts.' }),
    ...(form.counts === 'asset' && !/^\d{1,2}$/.test(form.decimals.trim()) && { decimals: 'Type its decimals.' }),
    ...(!/^[0-9][0-9,]*(?:\.[0-9]+)?$/.test(form.threshold.trim()) && { threshold: 'Type how much at most.' }),
  };
}

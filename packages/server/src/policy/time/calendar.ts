/**
 * Days since 1970-01-01 in the proleptic Gregorian calendar. Date.UTC is no help: it reads the years 0 to 99 as 1900s.
 */
export function daysFromCivil(year: number, month: number, day: number): number {
  // The year is counted from March, so that the leap day is its last (Hinnant, chrono-compatible date algorithms).
  const shiftedYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

interface CivilDate {
  readonly month: number;
  readonly day: number;
}

/** Month and day of month of a number of days since 1970-01-01. */
export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const dayOfEra = shifted - Math.floor(shifted / 146_097) * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  return {
    month: shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9,
    day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1,
  };
}

/** 0 is Sunday; 1970-01-01 was a Thursday. */
export const weekdayFromDays = (days: number): number => (((days + 4) % 7) + 7) % 7;

export function daysInMonth(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31;
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

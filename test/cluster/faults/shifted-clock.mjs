// Shifts the clock of this process by TEST_CLOCK_SHIFT_MS. The file is preloaded with `node --import`.
const shiftMs = Number(process.env['TEST_CLOCK_SHIFT_MS']);
const TrueDate = Date;
const now = () => TrueDate.now() + shiftMs;

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, given, made) => Reflect.construct(target, given.length === 0 ? [now()] : given, made),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});

import fc from 'fast-check';

/** Any text: what people write in, and units that are no characters. The `binary` of fast-check takes seconds to be made. */
export const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '\0'),
    fc.nat(0x10_ffff).map((point) => String.fromCodePoint(point)),
  ),
});

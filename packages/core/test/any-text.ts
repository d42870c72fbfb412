import fc from 'fast-check';

/** Any text, including unpaired surrogates and NUL. The `binary` unit of fast-check takes seconds to create. */
export const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '\0'),
    fc.nat(0x10_ffff).map((point) => String.fromCodePoint(point)),
  ),
});

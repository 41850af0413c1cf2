// SPDX-License-Identifier: Apache-2.0

// A program that does nothing: the headers that it precompiles are those of all tests.
int main() { return 0; }

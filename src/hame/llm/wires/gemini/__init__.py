"""The Gemini generateContent wire."""
